//! An endpoint that accepts connections and never answers.

use std::{net::TcpListener, time::Duration};

use aws_credential_types::{Credentials, provider::SharedCredentialsProvider};

use super::{Aws, Canned, config, reply};
use crate::{
    engine,
    model::{checkup::Status, testing},
};

#[tokio::test]
async fn a_check_up_gives_it_up_after_its_limit() {
    // The system takes connections for it.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let credentials = Credentials::new("AKIDEXAMPLE", "planted-secret", None, None, "tests");
    let canned = Canned::new(|_| reply(500, ""));
    let config = config(&canned, 10, SharedCredentialsProvider::new(credentials))
        .to_builder()
        .endpoint_url(endpoint)
        .http_client(aws_smithy_http_client::Builder::new().build_http())
        .build();
    let (request, limit) = (testing::request(|_| {}), Duration::from_millis(300));
    let aws = Aws::from_config(config);
    let checkup = engine::checkup(&aws, &request, limit);
    let found = tokio::time::timeout(10 * limit, checkup).await.unwrap();
    assert_eq!(found.checks.len(), 1, "{:#?}", found.checks);
    assert_eq!((found.checks[0].id, found.checks[0].status), ("credentials", Status::Fail));
    assert_eq!(found.checks[0].detail, "no answer within 0.3 s");
}
