//! What is told of AWS calls while they go on.

use crate::{
    cli::LogLevel,
    cloud::{ErrorKind, watched::News},
    view::text,
};

/// One line about a call, if the level asks for one.
pub(super) fn line(news: &News<'_>, level: Option<LogLevel>) -> Option<String> {
    match news {
        News::Slow { operation, waited, cause } => {
            let cause = cause.map_or(String::new(), |cause| format!(": {}", text::line(cause)));
            let waited = waited.as_secs();
            Some(format!("Warning: {operation} has had no answer for {waited} s{cause}; still trying\n"))
        }
        News::Over { operation, took, error } => {
            let outcome = match (error, level?) {
                (_, LogLevel::Warn) | (None, LogLevel::Info) => return None,
                (None, LogLevel::Debug) => "ok".to_owned(),
                (Some(error), _) => {
                    let request = error.request_id.as_deref().unwrap_or("no request id");
                    let code = match (error.code.as_str(), error.kind) {
                        ("", ErrorKind::Credentials) => "no credentials",
                        ("", _) => "no answer",
                        (code, _) => code,
                    };
                    text::line(&format!("{code} ({request})"))
                }
            };
            Some(format!("call: {operation} {} ms {outcome}\n", took.as_millis()))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::cloud::CloudError;

    #[test]
    fn a_level_tells_what_is_below_it() {
        let error = CloudError {
            operation: "ec2:DescribeInstances",
            resource: "r".to_owned(),
            region: "us-east-1".to_owned(),
            kind: ErrorKind::AccessDenied,
            code: "UnauthorizedOperation".to_owned(),
            message: "secret words of AWS".to_owned(),
            request_id: Some("req-1".to_owned()),
        };
        let operation = "ec2:DescribeInstances";
        let slow =
            News::Slow { operation, waited: Duration::from_secs(5), cause: Some("connection refused") };
        let well = News::Over { operation, took: Duration::from_millis(12), error: None };
        let failed = News::Over { operation, took: Duration::from_millis(12), error: Some(&error) };
        let levels = [None, Some(LogLevel::Warn), Some(LogLevel::Info), Some(LogLevel::Debug)];
        let told = |news: &News<'_>| levels.map(|level| line(news, level).is_some());
        assert_eq!(told(&slow), [true; 4]);
        assert_eq!(told(&failed), [false, false, true, true]);
        assert_eq!(told(&well), [false, false, false, true]);
        assert_eq!(
            line(&slow, None).unwrap(),
            "Warning: ec2:DescribeInstances has had no answer for 5 s: connection refused; still trying\n"
        );
        let text = line(&failed, Some(LogLevel::Debug)).unwrap();
        assert_eq!(text, "call: ec2:DescribeInstances 12 ms UnauthorizedOperation (req-1)\n");
    }
}
