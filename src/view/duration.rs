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
}
