//! S3 objects.

use super::{
    fault::Fault,
    tags,
    world::{StoredObject, World},
};
use crate::{
    contract::{payload::Payload, request::Tags},
    model::observed::Object,
};

impl World {
    pub(super) fn head_object(&self, bucket: &str, key: &str) -> Result<Object, Fault> {
        let there = !self.surroundings.missing.contains(bucket);
        let objects = self.buckets.get(bucket).filter(|_| there).ok_or_else(Fault::no_such_bucket)?;
        Ok(objects.get(key).map_or(Object::Missing, |object| Object::Present {
            sha256: object.sha256.clone(),
            content_type: object.content_type.clone(),
            encryption: object.encryption.clone(),
            tags: object.tags.clone(),
        }))
    }

    pub(super) fn put_object(
        &mut self,
        bucket: &str,
        key: &str,
        body: &Payload,
        tags: &Tags,
    ) -> Result<(), Fault> {
        let objects = self.buckets.get_mut(bucket).ok_or_else(Fault::no_such_bucket)?;
        if key.is_empty() || key.len() > 1024 {
            return Err(Fault::new("KeyTooLongError", "Your key is too long"));
        }
        tags::check_object(tags)?;
        let object = StoredObject {
            sha256: Some(body.sha256()),
            length: body.expose().len() as u64,
            content_type: Some("application/octet-stream".to_owned()),
            encryption: Some("AES256".to_owned()),
            tags: tags.clone(),
        };
        objects.insert(key.to_owned(), object);
        Ok(())
    }

    /// S3 answers the deletion of what is not there with success.
    pub(super) fn delete_object(&mut self, bucket: &str, key: &str) -> Result<(), Fault> {
        self.buckets.get_mut(bucket).ok_or_else(Fault::no_such_bucket)?.remove(key);
        Ok(())
    }
}
