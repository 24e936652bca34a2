//! The bootstrap object: reading what is known about it, writing it, removing it.

use aws_sdk_s3::{
    error::SdkError,
    operation::{
        get_object_tagging::{GetObjectTaggingError, GetObjectTaggingOutput},
        head_object::{HeadObjectError, HeadObjectOutput},
    },
    primitives::ByteStream,
    types::{ChecksumAlgorithm, ChecksumMode, ServerSideEncryption},
};
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::{
    Aws, convert,
    errors::{Asked, bucket_region},
};
use crate::{
    cloud::{CloudError, ErrorKind},
    contract::{payload::Payload, request::Tags},
    model::observed::Object,
};

/// What need not be escaped in a query string (RFC 3986, section 2.3).
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

type Tagging = Result<GetObjectTaggingOutput, SdkError<GetObjectTaggingError, HttpResponse>>;

fn object_text(bucket: &str, key: &str) -> String {
    format!("s3://{bucket}/{key}")
}

impl Aws {
    pub(super) async fn read_object(&self, bucket: &str, key: &str) -> Result<Object, CloudError> {
        let head_asked = self.asked("s3:HeadObject", object_text(bucket, key));
        let tagging_asked = self.asked("s3:GetObjectTagging", object_text(bucket, key));
        let head = self.s3().head_object().bucket(bucket).key(key).checksum_mode(ChecksumMode::Enabled);
        let tagging = self.s3().get_object_tagging().bucket(bucket).key(key);
        let (head, tagging) =
            tokio::join!(self.pass(&head_asked, head.send()), self.pass(&tagging_asked, tagging.send()));
        match head {
            Ok(head) => present(&head, &tagging_asked, tagging),
            Err(error) => absent(&head_asked, &error, &tagging_asked, &tagging),
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
        self.call(&asked, request.send()).await.map(drop)
    }

    pub(super) async fn delete_object(&self, bucket: &str, key: &str) -> Result<(), CloudError> {
        let asked = self.asked("s3:DeleteObject", object_text(bucket, key));
        let request = self.s3().delete_object().bucket(bucket).key(key);
        self.call(&asked, request.send()).await.map(drop)
    }
}

/// The head was read; the tags may be denied, or the object gone since.
fn present(head: &HeadObjectOutput, asked: &Asked<'_>, tagging: Tagging) -> Result<Object, CloudError> {
    match tagging {
        Ok(tagging) => Ok(convert::object(head, &tagging)),
        Err(error) => match asked.error(&error) {
            error if error.code == "NoSuchKey" => Ok(Object::Missing),
            error => Err(error),
        },
    }
}

/// A `HEAD` failed, and says why by its status alone. What was asked with it answers with a body,
/// which tells a missing object from a missing bucket, and bad credentials from everything.
fn absent(
    asked: &Asked<'_>,
    head: &SdkError<HeadObjectError, HttpResponse>,
    tagging_asked: &Asked<'_>,
    tagging: &Tagging,
) -> Result<Object, CloudError> {
    let error = asked.error(head);
    let Some(response) = head.raw_response() else { return Err(error) };
    let told = tagging.as_ref().err().map(|error| tagging_asked.error(error));
    let told_kind = told.as_ref().map(|told| told.kind);
    match response.status().as_u16() {
        404 => match told {
            Some(told) if told.code == "NoSuchBucket" => Err(told),
            // Not known whether the bucket is there.
            Some(told)
                if !matches!(told.kind, ErrorKind::NotFound | ErrorKind::AccessDenied | ErrorKind::Other) =>
            {
                Err(told)
            }
            _ => Ok(Object::Missing),
        },
        400 | 403 if matches!(told_kind, Some(ErrorKind::Credentials | ErrorKind::Throttled)) => {
            Err(told.unwrap_or(error))
        }
        403 => Err(denied(error)),
        301 | 307 | 308 | 400 => Err(elsewhere(asked, error, bucket_region(response), told)),
        _ => Err(error),
    }
}

fn denied(error: CloudError) -> CloudError {
    let message = "HTTP status 403. The credentials need s3:GetObject on the object and s3:ListBucket on the \
                   bucket (without the latter a missing object is denied too), and kms:Decrypt if a KMS key \
                   encrypts it";
    CloudError { kind: ErrorKind::AccessDenied, message: message.to_owned(), ..error }
}

fn elsewhere(
    asked: &Asked<'_>,
    error: CloudError,
    bucket_region: Option<&str>,
    told: Option<CloudError>,
) -> CloudError {
    let message = match (bucket_region, told) {
        (Some(region), _) if region != asked.region => format!("the bucket is in {region}"),
        // The bucket is here: whatever was wrong with the request, only the other answer can tell.
        (_, Some(told)) if !told.code.is_empty() => return told,
        _ => "the bucket is in another region".to_owned(),
    };
    CloudError { kind: ErrorKind::WrongRegion, message, ..error }
}

/// Tags as a query string, as the `x-amz-tagging` header takes them.
fn tagging_header(tags: &Tags) -> String {
    let escaped = |text: &str| utf8_percent_encode(text, ESCAPED).to_string();
    let pairs: Vec<String> =
        tags.iter().map(|(key, value)| format!("{}={}", escaped(key), escaped(value))).collect();
    pairs.join("&")
}
