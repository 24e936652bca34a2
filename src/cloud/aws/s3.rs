//! The bootstrap object: reading what is known about it, writing it, removing it.

use aws_sdk_s3::{
    operation::{get_object_tagging::GetObjectTaggingOutput, head_object::HeadObjectOutput},
    primitives::ByteStream,
    types::{ChecksumAlgorithm, ChecksumMode, ServerSideEncryption},
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::{Aws, convert, errors::Failure};
use crate::{
    cloud::{CloudError, ErrorKind},
    contract::{payload::Payload, request::Tags},
    model::observed::Object,
};

/// What need not be escaped in a query string (RFC 3986, section 2.3).
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

fn object_text(bucket: &str, key: &str) -> String {
    format!("s3://{bucket}/{key}")
}

impl Aws {
    pub(super) async fn read_object(&self, bucket: &str, key: &str) -> Result<Object, CloudError> {
        let head_asked = self.asked("s3:HeadObject", object_text(bucket, key));
        let tagging_asked = self.asked("s3:GetObjectTagging", object_text(bucket, key));
        let head = self.s3().head_object().bucket(bucket).key(key).checksum_mode(ChecksumMode::Enabled);
        let tagging = self.s3().get_object_tagging().bucket(bucket).key(key);
        let (head, tagging) = tokio::join!(
            self.attempt(&head_asked, || head.send()),
            self.attempt(&tagging_asked, || tagging.send())
        );
        match head {
            Ok(head) => present(&head, tagging),
            Err(failure) => absent(&self.region, failure, tagging.err()),
        }
    }

    pub(super) async fn put_object(
        &self,
        bucket: &str,
        key: &str,
        body: &Payload,
        tags: &Tags,
    ) -> Result<(), CloudError> {
        let asked = self.asked("s3:PutObject", object_text(bucket, key));
        let request = self
            .s3()
            .put_object()
            .bucket(bucket)
            .key(key)
            .content_type("application/octet-stream")
            .server_side_encryption(ServerSideEncryption::Aes256)
            .checksum_algorithm(ChecksumAlgorithm::Sha256)
            .checksum_sha256(body.sha256())
            .set_tagging((!tags.is_empty()).then(|| tagging_header(tags)))
            .body(ByteStream::from(body.expose().to_vec()));
        self.call(&asked, || request.send()).await.map(drop)
    }

    pub(super) async fn delete_object(&self, bucket: &str, key: &str) -> Result<(), CloudError> {
        let asked = self.asked("s3:DeleteObject", object_text(bucket, key));
        let request = self.s3().delete_object().bucket(bucket).key(key);
        self.call(&asked, || request.send()).await.map(drop)
    }
}

/// The head was read; the tags may be denied, or the object gone since.
fn present(
    head: &HeadObjectOutput,
    tagging: Result<GetObjectTaggingOutput, Failure>,
) -> Result<Object, CloudError> {
    match tagging {
        Ok(tagging) => Ok(convert::object(head, &tagging)),
        Err(failure) if failure.error.code == "NoSuchKey" => Ok(Object::Missing),
        Err(failure) => Err(failure.error),
    }
}

/// A `HEAD` failed, and says why by its status alone. The call that was made with it answers with a
/// body, which tells a missing object from a missing bucket, bad credentials from everything, and S3 from a server that
/// says 404 to whatever it is asked: that the object is not there is believed of nobody without an answer of S3's.
fn absent(region: &str, head: Failure, tagging: Option<Failure>) -> Result<Object, CloudError> {
    let told = tagging.map(|failure| failure.error);
    match (head.status, told) {
        (Some(404), Some(told)) if decides_over_404(&told) => Err(told),
        (Some(404), _) => Ok(Object::Missing),
        (Some(400 | 403), Some(told))
            if matches!(told.kind, ErrorKind::Credentials | ErrorKind::Throttled) =>
        {
            Err(told)
        }
        // Only this answer could have had a code of S3's in it.
        (Some(500..), Some(told)) => Err(told),
        (Some(status), Some(told)) if told.kind == ErrorKind::NotAws && !(301..=308).contains(&status) => {
            Err(told)
        }
        (Some(403), _) => Err(denied(head.error)),
        (Some(301 | 307 | 308 | 400), told) => Err(elsewhere(region, head, told)),
        _ => Err(head.error),
    }
}

/// Whether the bucket is the thing that is missing, or might be for all that is known.
fn decides_over_404(told: &CloudError) -> bool {
    told.code == "NoSuchBucket"
        || matches!(
            told.kind,
            ErrorKind::Network
                | ErrorKind::Server
                | ErrorKind::Throttled
                | ErrorKind::Credentials
                | ErrorKind::NotAws
        )
}

fn denied(error: CloudError) -> CloudError {
    let message = "The credentials need s3:GetObject on the object and s3:ListBucket on the bucket (without the latter a missing object is denied too), and kms:Decrypt if a KMS key \
                   encrypts it";
    CloudError { kind: ErrorKind::AccessDenied, message: message.to_owned(), ..error }
}

fn elsewhere(region: &str, head: Failure, told: Option<CloudError>) -> CloudError {
    let message = match (head.bucket_region, told) {
        (Some(other), _) if other != region => format!("the bucket is in {other}"),
        // The bucket is here: what else was wrong with the request, only the other answer can tell.
        (_, Some(told)) if told.has_code() => return told,
        _ => "the bucket is in another region".to_owned(),
    };
    CloudError { kind: ErrorKind::WrongRegion, message, ..head.error }
}

/// Tags as a query string, as the `x-amz-tagging` header takes them.
fn tagging_header(tags: &Tags) -> String {
    let escaped = |text: &str| utf8_percent_encode(text, ESCAPED).to_string();
    let pairs: Vec<String> =
        tags.iter().map(|(key, value)| format!("{}={}", escaped(key), escaped(value))).collect();
    pairs.join("&")
}
