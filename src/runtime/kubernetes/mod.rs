//! The state Secret and the lock Lease, over the Kubernetes API.
