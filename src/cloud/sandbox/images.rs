//! Images: a built-in catalogue that follows a rule and is stored nowhere, beside those of the file.

use std::{fmt::Write as _, ops::RangeInclusive};

use sha2::{Digest, Sha256};

use super::{fault::Fault, world::World};
use crate::{cloud::ImageQuery, model::observed::Image};

/// Whose images the catalogue holds: the account that publishes Cluster API's images for AWS.
pub const CATALOGUE_OWNER: &str = "819546954734";

/// Kubernetes 1.28 to 1.40 and so many patch releases of each.
const MINORS: RangeInclusive<u32> = 28..=40;
const PATCHES: RangeInclusive<u32> = 0..=45;

const ARCHITECTURES: [&str; 2] = ["x86_64", "arm64"];

/// Hex digits of an AMI id that are a checksum; the rest say which image it is.
const CHECK_DIGITS: usize = 12;

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Which image of the catalogue.
#[derive(Clone, Copy)]
struct Entry {
    minor: u32,
    patch: u32,
    architecture: usize,
}

impl Entry {
    fn all() -> impl Iterator<Item = Self> {
        MINORS.flat_map(|minor| {
            PATCHES.flat_map(move |patch| {
                (0..ARCHITECTURES.len()).map(move |architecture| Self { minor, patch, architecture })
            })
        })
    }

    /// Seconds since 1970: later releases were built later.
    fn built(self) -> u32 {
        let arm = if self.architecture == 0 { 0 } else { 600 };
        1_700_000_000 + (self.minor - MINORS.start()) * 5_000_000 + self.patch * 100_000 + arm
    }

    fn name(self) -> String {
        format!("capa-ami-ubuntu-24.04-v1.{}.{}-{}", self.minor, self.patch, self.built())
    }

    fn id(self) -> String {
        let check = hex(&Sha256::digest(self.name()));
        format!("ami-{}{:02x}{:02x}{:x}", &check[..CHECK_DIGITS], self.minor, self.patch, self.architecture)
    }

    fn of_id(id: &str) -> Option<Self> {
        let digits = id.strip_prefix("ami-").filter(|d| d.len() == CHECK_DIGITS + 5 && d.is_ascii())?;
        let number = |range: std::ops::Range<usize>| u32::from_str_radix(&digits[range], 16).ok();
        let entry = Self {
            minor: number(CHECK_DIGITS..CHECK_DIGITS + 2).filter(|n| MINORS.contains(n))?,
            patch: number(CHECK_DIGITS + 2..CHECK_DIGITS + 4).filter(|n| PATCHES.contains(n))?,
            architecture: usize::try_from(number(CHECK_DIGITS + 4..CHECK_DIGITS + 5)?)
                .ok()
                .filter(|n| *n < ARCHITECTURES.len())?,
        };
        (entry.id() == id).then_some(entry)
    }

    fn image(self) -> Image {
        Image {
            id: self.id(),
            name: self.name(),
            state: "available".to_owned(),
            architecture: ARCHITECTURES[self.architecture].to_owned(),
            root_device_name: "/dev/sda1".to_owned(),
            creation_date: utc(i64::from(self.built())),
            root_volume_size_gib: Some(8),
        }
    }
}

/// `2026-01-31T12:00:00.000Z` for seconds since 1970 (the civil calendar from a day count).
pub(super) fn utc(seconds: i64) -> String {
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Days since 1 March of the year 0, in eras of 400 years; years begin in March.
    let shifted = days + 719_468;
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + shifted.div_euclid(146_097) * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.000Z")
}

/// EC2's filter wildcards: `*` is any run of characters, `?` is none or one, `\` takes the next
/// character as it is (EC2 API reference, "Filtering your resources").
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    fn from(pattern: &[char], text: &[char]) -> bool {
        match pattern {
            [] => text.is_empty(),
            ['*', rest @ ..] => (0..=text.len()).any(|skip| from(rest, &text[skip..])),
            ['?', rest @ ..] => from(rest, text) || (!text.is_empty() && from(rest, &text[1..])),
            ['\\', literal, rest @ ..] | [literal, rest @ ..] => {
                text.first() == Some(literal) && from(rest, &text[1..])
            }
        }
    }
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    from(&pattern, &text)
}

impl World {
    /// The image of that id, in any state, unless it was deregistered.
    pub fn image(&self, id: &str) -> Option<Image> {
        if self.deregistered.contains(id) {
            return None;
        }
        let stored = self.images.iter().find(|owned| owned.image.id == id);
        stored.map(|owned| owned.image.clone()).or_else(|| Entry::of_id(id).map(Entry::image))
    }

    pub(super) fn describe_images(&self, query: &ImageQuery) -> Result<Vec<Image>, Fault> {
        match query {
            ImageQuery::Id(id) => {
                let hex = id.strip_prefix("ami-").unwrap_or_default();
                if hex.is_empty() || !hex.bytes().all(|b| b.is_ascii_hexdigit()) {
                    return Err(Fault::new("InvalidAMIID.Malformed", format!("Invalid id: \"{id}\"")));
                }
                self.image(id).map(|image| vec![image]).ok_or_else(|| {
                    Fault::new("InvalidAMIID.NotFound", format!("The image id '[{id}]' does not exist"))
                })
            }
            ImageQuery::Name { owner, name, architecture } => {
                Ok(self.images_named(owner, name, architecture))
            }
        }
    }

    fn images_named(&self, owner: &str, name: &str, architecture: &str) -> Vec<Image> {
        let owner = if owner == "self" { &self.account } else { owner };
        let wanted = |image: &Image| {
            image.state == "available"
                && image.architecture == architecture
                && matches(name, &image.name)
                && !self.deregistered.contains(&image.id)
        };
        let mut found: Vec<Image> = self
            .images
            .iter()
            .filter(|owned| owned.owner == owner && wanted(&owned.image))
            .map(|owned| owned.image.clone())
            .collect();
        if owner == CATALOGUE_OWNER {
            // Matched by name first: an id costs a checksum.
            let entries = Entry::all().filter(|entry| {
                ARCHITECTURES[entry.architecture] == architecture && matches(name, &entry.name())
            });
            found.extend(entries.map(Entry::image).filter(wanted));
        }
        found
    }
}
