//! S3: what is known of an object.

use aws_sdk_s3::{
    operation::{get_object_tagging::GetObjectTaggingOutput, head_object::HeadObjectOutput},
    types::ChecksumType,
};

use super::filled;
use crate::model::observed::Object;

pub(in crate::cloud::aws) fn object(head: &HeadObjectOutput, tagging: &GetObjectTaggingOutput) -> Object {
    Object::Present {
        sha256: sha256(head),
        content_type: filled(head.content_type()),
        encryption: filled(head.server_side_encryption()),
        tags: tagging.tag_set().iter().map(|tag| (tag.key().to_owned(), tag.value().to_owned())).collect(),
    }
}

/// A sum over the sums of an upload's parts (`<sum>-<parts>`) says nothing about the whole.
fn sha256(head: &HeadObjectOutput) -> Option<String> {
    let composite = head.checksum_type() == Some(&ChecksumType::Composite);
    filled(head.checksum_sha256()).filter(|sum| !composite && !sum.contains('-'))
}
