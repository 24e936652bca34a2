//! Answers in XML, as they come in and before the SDK parses them. What is cut off becomes an error: the SDK takes
//! it for whole, and so a part of the members for all. And EC2 says several kilobytes about an instance, of which
//! four things are read here; the rest is left out: its parsing is most of what a large pool costs, and like this no
//! page is ever in memory as a whole.

use std::{
    mem,
    pin::Pin,
    task::{Context, Poll, ready},
};

use aws_smithy_runtime_api::{
    box_error::BoxError,
    client::{
        interceptors::{Intercept, context::BeforeDeserializationInterceptorContextMut, dyn_dispatch_hint},
        orchestrator::Metadata,
        runtime_components::RuntimeComponents,
    },
};
use aws_smithy_types::{body::SdkBody, config_bag::ConfigBag};
use bytes::Bytes;
use http_body::{Body, Frame};
use memchr::memchr;

/// Sees to it that answers are whole, and thins those of `DescribeInstances`.
#[derive(Debug)]
pub(super) struct WholeAnswers;

#[dyn_dispatch_hint]
impl Intercept for WholeAnswers {
    fn name(&self) -> &'static str {
        "WholeAnswers"
    }

    fn modify_before_deserialization(
        &self,
        context: &mut BeforeDeserializationInterceptorContextMut<'_>,
        _: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let operation = config.load::<Metadata>().map(Metadata::name);
        let response = context.response_mut();
        if response.status().is_success() {
            let all_is_read = operation != Some("DescribeInstances");
            let inner = mem::replace(response.body_mut(), SdkBody::taken());
            let thinner = Thinner { all_is_read, ..Thinner::default() };
            *response.body_mut() = SdkBody::from_body_1_x(Thin { inner, thinner });
        }
        Ok(())
    }
}

/// The elements that are read of an answer of `DescribeInstances` (`convert::instance`), and those around them.
fn is_read(name: &[u8]) -> bool {
    matches!(
        name,
        b"DescribeInstancesResponse"
            | b"requestId"
            | b"nextToken"
            | b"reservationSet"
            | b"item"
            | b"instancesSet"
            | b"instanceId"
            | b"instanceState"
            | b"launchTime"
            | b"name"
            | b"placement"
            | b"availabilityZone"
            | b"privateIpAddress"
            | b"ipv6Address"
            | b"networkInterfaceSet"
            | b"attachment"
            | b"deviceIndex"
            | b"privateIpAddressesSet"
            | b"primary"
            | b"ipv6AddressesSet"
            | b"isPrimaryIpv6"
    )
}

/// A body without what is not read.
struct Thin {
    inner: SdkBody,
    thinner: Thinner,
}

impl Body for Thin {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        loop {
            let frame = match ready!(Pin::new(&mut self.inner).poll_frame(task)) {
                Some(Ok(frame)) => frame,
                None if !self.thinner.is_whole() => {
                    return Poll::Ready(Some(Err("the answer ends in the middle".into())));
                }
                other => return Poll::Ready(other),
            };
            let kept = match frame.into_data() {
                Ok(data) => self.thinner.feed(&data),
                Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
            };
            if !kept.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(kept.into()))));
            }
        }
    }
}

/// Leaves elements out of a document that comes in pieces.
#[derive(Default)]
struct Thinner {
    /// Whether nothing is left out.
    all_is_read: bool,
    /// The beginning of a tag whose end has not come yet.
    tag: Vec<u8>,
    /// How many elements are open.
    open: usize,
    /// How many are once the one that is left out is open.
    left_out: Option<usize>,
    /// Whether text has begun since the last tag; blanks before it are indentation.
    in_text: bool,
}

impl Thinner {
    /// What is kept of the next piece.
    fn feed(&mut self, mut rest: &[u8]) -> Vec<u8> {
        let mut kept = Vec::new();
        while !rest.is_empty() {
            if self.tag.is_empty() {
                let (text, more) = rest.split_at(memchr(b'<', rest).unwrap_or(rest.len()));
                self.text(text, &mut kept);
                rest = more;
            }
            let Some(end) = memchr(b'>', rest) else {
                self.tag.extend_from_slice(rest);
                break;
            };
            let (tag, more) = rest.split_at(end + 1);
            rest = more;
            if self.tag.is_empty() {
                self.tag(tag, &mut kept);
            } else {
                let mut whole = mem::take(&mut self.tag);
                whole.extend_from_slice(tag);
                self.tag(&whole, &mut kept);
            }
        }
        kept
    }

    /// Whether all that began has ended.
    fn is_whole(&self) -> bool {
        self.open == 0 && self.tag.is_empty()
    }

    fn text(&mut self, text: &[u8], kept: &mut Vec<u8>) {
        if self.left_out.is_some() {
            return;
        }
        let text = if self.in_text || self.all_is_read { text } else { text.trim_ascii_start() };
        self.in_text |= !text.is_empty();
        kept.extend_from_slice(text);
    }

    fn tag(&mut self, tag: &[u8], kept: &mut Vec<u8>) {
        self.in_text = false;
        let is_end = tag.starts_with(b"</");
        // A declaration is no element.
        let is_element = !tag.starts_with(b"<?") && !tag.starts_with(b"<!");
        let is_start = is_element && !is_end && !tag.ends_with(b"/>");
        if is_start {
            self.open += 1;
        } else if is_end {
            self.open = self.open.saturating_sub(1);
        }
        if let Some(depth) = self.left_out {
            self.left_out = (self.open >= depth).then_some(depth);
        } else if self.all_is_read || is_end || !is_element || is_read(name(tag)) {
            kept.extend_from_slice(tag);
        } else if is_start {
            self.left_out = Some(self.open);
        }
    }
}

/// The name of an element, of its start tag.
fn name(tag: &[u8]) -> &[u8] {
    let name = tag.strip_prefix(b"<").unwrap_or(tag);
    let end = name.iter().position(|byte| matches!(byte, b'>' | b'/') || byte.is_ascii_whitespace());
    &name[..end.unwrap_or(name.len())]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    /// The document in pieces of `size` bytes.
    fn thinned(document: &str, size: usize) -> String {
        let mut thinner = Thinner::default();
        let kept: Vec<u8> = document.as_bytes().chunks(size).flat_map(|piece| thinner.feed(piece)).collect();
        String::from_utf8(kept).unwrap()
    }

    #[test]
    fn what_is_not_read_is_left_out_wherever_the_pieces_end() {
        let document = "<?xml version=\"1.0\"?>\n<DescribeInstancesResponse xmlns=\"http://x/\">\n  <reservationSet>\
                        <item>\n<groupSet/><instancesSet>\n<item>\n    <instanceId>i-1</instanceId>\n    <tagSet>\n\
                        <item><key>instanceId</key><value>a &gt; b</value></item>\n<tagSet/><tagSet><item/></tagSet>\
                        </tagSet>\n    <placement attr=\"1\"><tenancy>default</tenancy>\n<availabilityZone> z a \
                        </availabilityZone></placement><dnsName/></item></instancesSet></item></reservationSet>\n\
                        <nextToken>two</nextToken></DescribeInstancesResponse>\n";
        let kept = "<?xml version=\"1.0\"?><DescribeInstancesResponse xmlns=\"http://x/\"><reservationSet><item>\
                    <instancesSet><item><instanceId>i-1</instanceId><placement attr=\"1\"><availabilityZone>z a \
                    </availabilityZone></placement></item></instancesSet></item></reservationSet>\
                    <nextToken>two</nextToken></DescribeInstancesResponse>";
        for size in 1..=document.len() {
            assert_eq!(thinned(document, size), kept, "pieces of {size}");
        }
    }

    #[test]
    fn a_document_that_is_cut_off_is_known_to_be() {
        let document =
            "<?xml?>\n<item><tagSet><item><x/></item></tagSet><instanceId>i-1</instanceId></item>\n";
        let begin = document.find("<item>").unwrap() + 1;
        for end in begin..=document.len() {
            let mut thinner = Thinner::default();
            thinner.feed(&document.as_bytes()[..end]);
            assert_eq!(thinner.is_whole(), end >= document.len() - 1, "{}", &document[..end]);
        }
    }
}
