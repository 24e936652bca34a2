//! What an apply makes, and what it leaves alone.

use serde_json::json;

use crate::{calls, harness::Pool};

#[tokio::test]
async fn x() {
    let Some(mut pool) = Pool::new().await else { return };
    pool.latency(100);
    for (what, n) in [("autoscaling on", 1), ("rot", 2), ("label", 3), ("roll", 4), ("roll", 5), ("destroy", 6)] {
        match n {
            1 => pool.set("autoscaling", json!({"enabled": true, "min": 1, "max": 5})),
            2 => pool.set("bootstrap_data", crate::inputs::bootstrap(2).into()),
            3 => pool.set("node_labels", json!({"a": "b"})),
            4 => pool.set("kubernetes_version", "v1.34.2".into()),
            _ => {}
        }
        pool.forget_calls();
        let o = if n == 6 { pool.run(&["destroy", "-auto-approve"]) } else { pool.run(&["apply", "-auto-approve"]) };
        eprintln!("== {what} {}\n{}\n{}", o.code, o.out, o.err);
        let calls = pool.calls();
        let t0 = calls[0].started;
        for c in &calls {
            eprintln!("{:6.0} {:6.0} {:?} {} {}", c.started - t0, c.finished.unwrap_or(0.0) - t0, c.status, c.operation, c.parameters.to_string().chars().take(300).collect::<String>());
        }
        eprintln!("depth {}", calls::depth(&calls));
    }
}
