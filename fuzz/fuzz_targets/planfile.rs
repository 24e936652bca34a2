#![no_main]

#[path = "../checks/planfile.rs"]
mod planfile;

libfuzzer_sys::fuzz_target!(|data: &[u8]| planfile::check(data));
