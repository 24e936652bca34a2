"""Objects in S3."""

import base64
import hashlib

from .support import DoubleTest


def sha256(body):
    return base64.b64encode(hashlib.sha256(body).digest()).decode()


class Objects(DoubleTest):
    def setUp(self):
        super().setUp()
        self.bucket = f"b-{self.key.lower()}"
        self.s3.create_bucket(Bucket=self.bucket)

    def put(self, body=b"data", **more):
        return self.s3.put_object(Bucket=self.bucket, Key="pool/x", Body=body, **more)

    def head(self):
        return self.s3.head_object(Bucket=self.bucket, Key="pool/x", ChecksumMode="ENABLED")

    def test_everything_is_encrypted(self):
        self.put()
        self.assertEqual(self.head()["ServerSideEncryption"], "AES256")

    def test_a_wrong_checksum_is_refused(self):
        self.put(b"first", ChecksumSHA256=sha256(b"first"))
        self.refused("BadDigest", self.put, b"second", ChecksumSHA256=sha256(b"third"))
        self.assertEqual(self.head()["ChecksumSHA256"], sha256(b"first"))

    def test_ten_tags_and_no_more(self):
        tags = "&".join(f"k{n}=v" for n in range(10))
        self.put(Tagging=tags)
        self.refused("BadRequest", self.put, Tagging=tags + "&k10=v")
        shown = self.s3.get_object_tagging(Bucket=self.bucket, Key="pool/x")["TagSet"]
        self.assertEqual(len(shown), 10)
        many = {"TagSet": [{"Key": f"k{n}", "Value": ""} for n in range(11)]}
        self.refused("BadRequest", self.s3.put_object_tagging, Bucket=self.bucket, Key="pool/x", Tagging=many)

    def test_what_is_missing(self):
        self.refused("404", self.head)
        self.refused("NoSuchKey", self.s3.get_object_tagging, Bucket=self.bucket, Key="pool/x")
        self.refused("NoSuchBucket", self.s3.get_object_tagging, Bucket="no-such-bucket-here", Key="pool/x")
        self.s3.delete_object(Bucket=self.bucket, Key="pool/x")
