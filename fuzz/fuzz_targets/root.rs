#![no_main]

#[path = "../checks/root.rs"]
mod root;

libfuzzer_sys::fuzz_target!(|data: &[u8]| root::check(data));
