#![no_main]

#[path = "../checks/backend.rs"]
mod backend;

libfuzzer_sys::fuzz_target!(|data: &[u8]| backend::check(data));
