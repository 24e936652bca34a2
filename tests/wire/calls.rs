//! The calls that a run made, as the double wrote them down.

use serde::Deserialize;
use serde_json::Value;

/// One call.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Call {
    pub(crate) operation: String,
    pub(crate) parameters: Value,
    /// Milliseconds on the double's clock.
    pub(crate) started: f64,
    /// None while there is no answer yet.
    pub(crate) finished: Option<f64>,
    /// The kind of fault it met.
    pub(crate) fault: Option<String>,
}

/// Whether an operation changes anything.
pub(crate) fn is_write(operation: &str) -> bool {
    !["Describe", "Get", "Head", "List"].iter().any(|verb| operation.starts_with(verb))
}

/// Names of the operations that write, in the order they came.
pub(crate) fn writes(calls: &[Call]) -> Vec<&str> {
    calls.iter().map(|call| call.operation.as_str()).filter(|operation| is_write(operation)).collect()
}

/// Names of all operations, sorted: calls side by side come in any order.
pub(crate) fn sorted(calls: &[Call]) -> Vec<&str> {
    let mut names: Vec<&str> = calls.iter().map(|call| call.operation.as_str()).collect();
    names.sort_unstable();
    names
}

/// How many round trips the calls took: the longest chain of calls that did not overlap.
pub(crate) fn depth(calls: &[Call]) -> usize {
    let mut spans: Vec<(f64, f64)> =
        calls.iter().map(|call| (call.started, call.finished.unwrap_or(f64::MAX))).collect();
    spans.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut depth = 0;
    let mut end = f64::MIN;
    for (started, finished) in spans {
        if started >= end {
            depth += 1;
            end = finished;
        }
    }
    depth
}

#[test]
fn depth_counts_what_did_not_overlap() {
    let call = |started: f64, finished: f64| Call {
        operation: String::new(),
        parameters: Value::Null,
        started,
        finished: Some(finished),
        fault: None,
    };
    assert_eq!(depth(&[]), 0);
    assert_eq!(depth(&[call(0.0, 10.0), call(1.0, 12.0), call(2.0, 9.0)]), 1);
    assert_eq!(depth(&[call(0.0, 10.0), call(1.0, 12.0), call(13.0, 20.0)]), 2);
}
