//! Durations as a person reads them.

use std::time::Duration;

/// `0.4s`, `12s`, `3m05s`, `1h02m`.
pub fn human(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..10 => format!("{seconds}.{}s", duration.subsec_millis() / 100),
        10..60 => format!("{seconds}s"),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds % 3600 / 60),
    }
}

/// How old something is: `12s`, `3m05s`, `1h02m`, `47h59m`, `3d04h`.
pub(super) fn age(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..60 => format!("{seconds}s"),
        60..TWO_DAYS => human(Duration::from_secs(seconds)),
        _ => format!("{}d{:02}h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

/// From here on an age is told in days. In seconds.
const TWO_DAYS: u64 = 2 * 86_400;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_range_has_its_own_form() {
        let shown = [0, 449, 9_999, 10_000, 59_999, 60_000, 185_000, 3_599_999, 3_600_000, 3_720_000]
            .map(|millis| human(Duration::from_millis(millis)));
        assert_eq!(
            shown,
            ["0.0s", "0.4s", "9.9s", "10s", "59s", "1m00s", "3m05s", "59m59s", "1h00m", "1h02m"]
        );
    }

    #[test]
    fn an_age_has_no_tenths_and_knows_days() {
        let shown = [0, 9, 59, 60, 3_720, 172_799, 172_800, 273_600].map(|s| age(Duration::from_secs(s)));
        assert_eq!(shown, ["0s", "9s", "59s", "1m00s", "1h02m", "47h59m", "2d00h", "3d04h"]);
    }
}
