"""S3 as strict as AWS: checksums are checked, encryption shows, an object has at most ten tags."""

import base64
import hashlib
from urllib.parse import parse_qsl

TAG_LIMIT = 10


def before(call, environ):
    """A refusal (status, code, message) for what AWS would not take; mends what moto would not see."""
    if call.service != "s3":
        return None
    if call.operation == "PutObject":
        return _check_put(call, environ)
    if call.operation == "PutObjectTagging" and call.body.count(b"<Tag>") > TAG_LIMIT:
        return too_many_tags()
    return None


def _check_put(call, environ):
    if len(parse_qsl(call.headers.get("x-amz-tagging", ""), keep_blank_values=True)) > TAG_LIMIT:
        return too_many_tags()
    given = call.headers.get("x-amz-checksum-sha256")
    if given is None:
        return None
    # Moto keeps a checksum only if the algorithm is named too.
    environ.setdefault("HTTP_X_AMZ_SDK_CHECKSUM_ALGORITHM", "SHA256")
    in_chunks = call.headers.get("x-amz-content-sha256", "").startswith("STREAMING-")
    if not in_chunks and given != base64.b64encode(hashlib.sha256(call.body).digest()).decode():
        return 400, "BadDigest", "The SHA256 you specified did not match the calculated checksum."
    return None


def too_many_tags():
    return 400, "BadRequest", "Object tags cannot be greater than 10"


def after(call, status, headers):
    """Headers that AWS adds: every object is encrypted, and a checksum says what it covers."""
    if call.service != "s3" or status != 200 or call.operation not in ("HeadObject", "GetObject", "PutObject"):
        return headers
    names = {name.lower(): value for name, value in headers}
    added = []
    if "x-amz-server-side-encryption" not in names:
        added.append(("x-amz-server-side-encryption", "AES256"))
    if "x-amz-checksum-sha256" in names and "x-amz-checksum-type" not in names:
        added.append(("x-amz-checksum-type", "FULL_OBJECT"))
    return list(headers) + added
