#![no_main]

#[path = "../checks/inputs.rs"]
mod inputs;

libfuzzer_sys::fuzz_target!(|data: &[u8]| inputs::check(data));
