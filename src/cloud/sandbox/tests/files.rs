//! The sandbox's file and clocks.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use super::*;

fn open(path: &Path) -> (Sandbox, Rc<ManualClock>) {
    let clock = Rc::new(ManualClock::default());
    (Sandbox::open(path, &seed(), clock.clone()).unwrap(), clock)
}

fn problem(path: &Path) -> String {
    match Sandbox::open(path, &seed(), Rc::new(ManualClock::default())) {
        Ok(_) => panic!("it opened"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn the_account_outlives_the_program() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("account.json");
    {
        let (sandbox, clock) = open(&path);
        run(sandbox.perform(&create_template("pool-1", data(&sandbox)))).unwrap();
        let template = TemplateRef::Named("pool-1".to_owned());
        run(sandbox.perform(&Write::CreateGroup(CreateGroup { template, ..new_group("", 3) }))).unwrap();
        clock.advance(Duration::from_mins(1));
        assert_eq!(run(sandbox.group(GROUP)).unwrap().unwrap().members.len(), 3);
    }
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    // Another seed does not matter any more.
    let clock = Rc::new(ManualClock::default());
    let sandbox = Sandbox::open(&path, &Seed::default(), clock).unwrap();
    assert_eq!(sandbox.region(), "us-east-1");
    assert_eq!(run(sandbox.group(GROUP)).unwrap().unwrap().members.len(), 3);
    let names: Vec<_> = fs::read_dir(directory.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["account.json"], "no temporary file is left");
}

#[test]
fn what_a_killed_run_left_beside_the_file_is_gone_with_the_next_write() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("account.json");
    let names = || {
        let entries = fs::read_dir(directory.path()).unwrap();
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    // Killed before it wrote anything: what it made is empty, and as good as new.
    fs::write(&path, "").unwrap();
    let (sandbox, _) = open(&path);
    let left = sandbox.store.as_ref().unwrap().new_text();
    assert_eq!(left, directory.path().join(".account.json.new"), "one name, whatever process or thread");
    let stranger = directory.path().join("stranger");
    fs::write(&stranger, "mine").unwrap();
    fs::write(&left, "{\"format\": 1, \"clo").unwrap();
    run(sandbox.perform(&create_template("pool-1", data(&sandbox)))).unwrap();
    assert_eq!(names(), ["account.json", "stranger"]);
    std::os::unix::fs::symlink(&stranger, &left).unwrap();
    run(sandbox.perform(&create_template("pool-2", data(&sandbox)))).unwrap();
    assert_eq!(names(), ["account.json", "stranger"]);
    assert_eq!(fs::read_to_string(&stranger).unwrap(), "mine", "no link is followed");
    assert!(!path.is_symlink());
    assert_eq!(open(&path).0.world().templates.len(), 2);
}

#[test]
fn a_read_that_changes_nothing_does_not_write() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("account.json");
    let (sandbox, clock) = open(&path);
    // Formatted by hand, and so told from what the program would write.
    let text = format!(" {}", fs::read_to_string(&path).unwrap());
    fs::write(&path, &text).unwrap();
    clock.advance(Duration::from_mins(1));
    assert_eq!(run(sandbox.group(GROUP)).unwrap(), None);
    assert_eq!(sandbox.world().subnets.len(), 3);
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn two_programs_see_each_others_writes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("account.json");
    let ((one, _), (two, _)) = (open(&path), open(&path));
    run(one.perform(&create_template("pool-1", data(&one)))).unwrap();
    let error = run(two.perform(&create_template("pool-1", data(&two)))).unwrap_err();
    assert_eq!(error.kind, ErrorKind::AlreadyExists);
    two.edit(|world| world.templates.clear());
    run(one.perform(&create_template("pool-1", data(&one)))).unwrap();
}

#[test]
fn writes_of_many_at_once_are_all_kept() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("account.json");
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let path = &path;
            scope.spawn(move || {
                let (sandbox, _) = open(path);
                for number in 0..10 {
                    let name = format!("pool-{thread}-{number}");
                    run(sandbox.perform(&create_template(&name, TemplateData::default()))).unwrap();
                }
            });
        }
    });
    assert_eq!(open(&path).0.world().templates.len(), 40);
}

#[test]
fn broken_and_newer_files_are_told_apart_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("account.json");
    for (text, words) in [
        ("\n", "is not a sandbox file"),
        ("{\"format\": 1, \"clo", "is not a sandbox file (line 1, column 18). Use another file"),
        ("[]", "is not a sandbox file"),
        ("{\"format\": 1, \"clock_offset_ms\": 0, \"world\": {\"grups\": {}}}", "delete it to begin anew"),
        ("{\"format\": 1}", "is damaged, or another version wrote it (line 1, column 13)"),
        ("{\"format\": 2, \"anything\": 1}", "has format 2"),
    ] {
        fs::write(&path, text).unwrap();
        let message = problem(&path);
        assert!(message.contains(words), "{message}");
        assert!(message.contains("account.json"), "{message}");
        assert!(!message.contains(['`', '_']), "no words of the program's own: {message}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    fs::write(&path, [0xff, 0xfe, b'{']).unwrap();
    assert!(problem(&path).contains("is not a sandbox file. Use another file"));
}

#[test]
fn an_empty_file_is_a_new_one() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("account.json");
    fs::write(&path, "").unwrap();
    let (sandbox, _) = open(&path);
    assert_eq!(sandbox.world().subnets.len(), 3);
    assert!(fs::read_to_string(&path).unwrap().contains("\"format\": 1"));
    // Emptied while somebody works with it: no longer an account.
    fs::write(&path, "").unwrap();
    assert!(run(sandbox.group(GROUP)).unwrap_err().message.contains("is not a sandbox file"));
}

#[test]
fn only_a_regular_file_is_an_account() {
    let directory = tempfile::tempdir().unwrap();
    let pipe = directory.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for (path, what) in [
        (pipe.as_path(), "is a pipe"),
        (directory.path(), "is a directory"),
        (Path::new("/dev/null"), "is a device"),
        (Path::new("/dev/zero"), "is a device"),
        (Path::new("/dev/full"), "is a device"),
    ] {
        let message = problem(path);
        assert!(message.contains(what) && message.contains("regular file"), "{message}");
    }
    let link = directory.path().join("link.json");
    std::os::unix::fs::symlink(directory.path().join("gone.json"), &link).unwrap();
    let message = problem(&link);
    assert!(message.contains("is a symbolic link to") && message.contains("gone.json, which does not exist"));
    assert!(!directory.path().join("gone.json").exists());
    std::os::unix::fs::symlink(&pipe, directory.path().join("to-pipe")).unwrap();
    assert!(problem(&directory.path().join("to-pipe")).contains("is a pipe"));
}

#[test]
fn a_file_far_too_large_is_not_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("account.json");
    fs::File::create(&path).unwrap().set_len((256 << 20) + 1).unwrap();
    let message = problem(&path);
    assert!(message.contains("is larger than 256 MiB"), "{message}");
}

#[test]
fn a_lock_that_somebody_keeps_is_not_waited_for_without_end() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("account.json");
    let (sandbox, _) = open(&path);
    let store = sandbox.store.as_ref().unwrap();
    let other = fs::File::open(&path).unwrap();
    other.lock().unwrap();
    let message = store.lock_within(Duration::from_millis(100)).unwrap_err().to_string();
    assert!(message.contains("account.json is in use by another run"), "{message}");
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| store.lock_within(Duration::from_mins(1)).map(|_| ()));
        std::thread::sleep(Duration::from_millis(60));
        other.unlock().unwrap();
        waits.join().unwrap().unwrap();
    });
}

#[test]
fn a_place_that_cannot_be_written_is_an_error_that_names_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let message = problem(&directory.path().join("none/account.json"));
    assert!(message.contains("none/account.json could not be created: there is no directory "), "{message}");
    // Not a directory on the way to it.
    fs::write(directory.path().join("plain"), "x").unwrap();
    assert!(problem(&directory.path().join("plain/account.json")).contains("could not be opened"));
}

#[test]
fn what_could_not_be_written_did_not_happen() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("account.json");
    let (sandbox, _) = open(&path);
    let text = fs::read_to_string(&path).unwrap();
    // A directory in the place of the temporary file: nothing can be written, even by root.
    let temporary = sandbox.store.as_ref().unwrap().new_text();
    fs::create_dir(&temporary).unwrap();
    let create = create_template("pool-1", data(&sandbox));
    let error = run(sandbox.perform(&create)).unwrap_err();
    assert_eq!(error.operation, "ec2:CreateLaunchTemplate");
    assert!(error.message.contains("account.json could not be written"), "{error}");
    assert_eq!(error.code, "SandboxFileFailed", "not as if there had been no answer");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    assert!(sandbox.world().templates.is_empty());
    sandbox.edit(|world| world.account = "1".repeat(12));
    fs::remove_dir(&temporary).unwrap();
    run(sandbox.perform(&create)).unwrap();
    assert_eq!(open(&path).0.world().account, "1".repeat(12), "an edit is saved by the next call");
}

#[test]
fn a_symbolic_link_stays_one() {
    let directory = tempfile::tempdir().unwrap();
    let (real, link) = (directory.path().join("real.json"), directory.path().join("link.json"));
    open(&real);
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let (sandbox, _) = open(&link);
    sandbox.edit(|world| world.templates.insert("lt-1".to_owned(), StoredTemplate::default()));
    assert!(link.is_symlink());
    assert_eq!(open(&real).0.world().templates.len(), 1);
}

#[test]
fn the_command_lines_clock_is_ahead_by_what_was_slept_and_stays_so() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("account.json");
    let (sandbox, clock) = Sandbox::open_with_own_clock(&path, &seed()).unwrap();
    let before = clock.now();
    let began = std::time::Instant::now();
    run(clock.sleep(Duration::from_mins(10)));
    assert!(began.elapsed() < Duration::from_secs(30));
    assert!(clock.now().since(before) >= Duration::from_secs(599));
    run(sandbox.group(GROUP)).unwrap();
    let (_sandbox, later) = Sandbox::open_with_own_clock(&path, &seed()).unwrap();
    assert_eq!(later.offset_ms(), clock.offset_ms());
    assert!(later.now().since(before) >= Duration::from_secs(599));
}
