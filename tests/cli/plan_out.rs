//! Where `plan -out` saves: never over what somebody needs.

use std::{fs, process::Command};

use super::{Bench, Outcome, demo};

/// A bench with the pool's inputs in `pool.json`.
fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("pool.json", &fs::read_to_string(demo()).unwrap());
    bench
}

const PLAN: &str = "plan --sandbox account.json -var-file pool.json";

/// Refused before an account is asked, and every file is as it was.
#[track_caller]
fn refuses(bench: &Bench, line: &str, why: &str) {
    let all = || {
        let mut files: Vec<_> = fs::read_dir(bench.directory.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| (path.clone(), fs::read(path).ok()))
            .collect();
        files.sort();
        files
    };
    let before = all();
    let outcome = bench.run(line).fails(why);
    assert!(outcome.err.starts_with("Error: Cannot save the plan in "), "{line}: {}", outcome.err);
    assert!(all() == before, "{line}");
}

#[test]
fn a_file_that_is_no_saved_plan_is_not_written_over() {
    let bench = bench();
    let no_plan = "is no saved plan";
    refuses(&bench, &format!("{PLAN} -out pool.json"), "the inputs are read from it");
    bench.write("notes.md", "# Notes\n");
    bench.write("almost", "{\"machinepool\": 1}");
    bench.write("terraform.tfvars.json", "{}");
    bench.write("errored.tfstate", "{\"version\": 4}");
    // An archive is somebody's document, unless Terraform's plan is the first thing in it.
    bench.write("report.docx", "PK\u{3}\u{4}\u{14}\0\0\0\0\0tfplan");
    let zip = "import zipfile; z = zipfile.ZipFile('backup.zip', 'w'); z.writestr('tfplan.txt', 'x')";
    let python = Command::new("python3").args(["-c", zip]).current_dir(bench.directory.path()).status();
    assert!(python.unwrap().success());
    for file in ["notes.md", "almost", "errored.tfstate", "report.docx", "backup.zip"] {
        refuses(&bench, &format!("{PLAN} -out={file}"), no_plan);
        refuses(&bench, &format!("{PLAN} -destroy -out=./{file}"), no_plan);
    }
    refuses(&bench, &format!("{PLAN} -out=notes.md"), "Give -out another name, or remove the file first.");
}

#[test]
fn a_plan_of_terraforms_is_replaced() {
    let bench = bench();
    bench.write("main.tf", "output \"x\" {\n  value = 1\n}\n");
    for line in ["init -backend=false", "plan -out=tfplan"] {
        match Command::new("terraform").args(line.split(' ')).current_dir(bench.directory.path()).output() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return,
            output => assert!(output.unwrap().status.success(), "{line}"),
        }
    }
    assert!(fs::read(bench.path("tfplan")).unwrap().starts_with(b"PK"));
    bench.run("apply tfplan").fails("It is a plan that Terraform or OpenTofu saved");
    bench.run(&format!("{PLAN} -out=tfplan")).ok();
    bench.run("show tfplan").ok();
}

#[test]
fn what_is_needed_is_not_to_be_removed_for_a_plan() {
    let bench = bench();
    for file in ["pool.json", "account.json", "main.tf.json", "terraform.tfvars.json"] {
        let line = format!("{PLAN} -out={file}");
        refuses(&bench, &line, "Give -out another name.");
        assert!(!bench.run(&line).err.contains("remove"), "{file}");
    }
}

#[test]
fn where_a_plan_was_saved_is_told_whatever_the_name() {
    let bench = bench();
    let sha = "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12";
    for file in [format!("plan-{sha}.tfplan"), format!("plan-{sha}"), sha.to_owned()] {
        let told = bench.run(&format!("{PLAN} -out={file}"));
        let expected =
            format!("Saved in {file}. To carry it out: machinepool apply --sandbox account.json {file}\n");
        assert!((told.out.clone() + &told.err).contains(&expected), "{}{}", told.out, told.err);
    }
    bench
        .run(&format!("validate -var-file=pol-{sha}.json"))
        .fails(&format!("Error: Cannot read the inputs from pol-{sha}.json\n"));
    for name in ["./eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ.eyJpc3MiOiJrIn0.c2ln", &sha[1..]] {
        let told = bench.run(&format!("validate -var-file={name}"));
        assert!(told.fails("(a name of").err.contains("does not look like the name"), "{name}");
    }
}

/// What is printed can be pasted into a shell, from where the plan was made.
#[test]
fn the_command_that_carries_a_plan_out_is_whole() {
    let bench = bench();
    let inputs = fs::read(bench.path("pool.json")).unwrap();
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_machinepool")).parent().unwrap();
    for (number, (directory, account, plan)) in [
        (".", "account.json", "p.tfplan"),
        ("deep/er", "account.json", "p.tfplan"),
        ("it's", "my account.json", "a $(plan).tfplan"),
        ("plain", "-account.json", "-p.tfplan"),
        ("q\"d", "a\\b.json", "p.tfplan"),
    ]
    .into_iter()
    .enumerate()
    {
        fs::create_dir_all(bench.path(directory)).unwrap();
        fs::write(bench.path(directory).join("pool.json"), &inputs).unwrap();
        let sandbox = format!("--sandbox={account}");
        let chdir = format!("-chdir={directory}");
        let out = format!("-out={plan}");
        let mut args = vec![chdir.as_str(), "plan", &sandbox, "-var-file=pool.json", &out];
        let by_environment = number == 2;
        if by_environment {
            args.remove(2);
        }
        let mut planning = bench.command(&args);
        if by_environment {
            planning.env("MACHINEPOOL_SANDBOX", account);
        }
        let planned = Outcome::of(&planning.output().unwrap());
        assert_eq!(planned.code, 0, "{}", planned.err);
        let (_, line) = planned.err.rsplit_once("To carry it out: ").unwrap();
        let applied = Command::new("/bin/sh")
            .args(["-ec", line])
            .env_clear()
            .env("PATH", program)
            .current_dir(bench.directory.path())
            .output()
            .unwrap();
        let applied = Outcome::of(&applied);
        assert!(applied.out.starts_with("Apply complete! Resources: 5 added"), "{line}{}", applied.err);
    }
}

/// A name that a terminal cannot show as it is would be pasted as another one.
#[test]
fn a_name_that_cannot_be_pasted_is_not_made_up() {
    use std::os::unix::ffi::OsStrExt;
    let bench = bench();
    for name in [&b"-out=a\xffb"[..], b"-out=a\nb"] {
        let mut command = bench.command(PLAN.split(' '));
        let planned = Outcome::of(&command.arg(std::ffi::OsStr::from_bytes(name)).output().unwrap());
        assert!(planned.err.contains("To carry it out: machinepool apply, with"), "{}", planned.err);
    }
}

#[test]
fn names_that_a_command_reads_are_no_place_for_a_plan() {
    let bench = bench();
    refuses(&bench, &format!("{PLAN} -out=account.json"), "the sandbox");
    refuses(&bench, &format!("{PLAN} -out=./account.json"), "the sandbox");
    let inside = bench.directory.path().join("account.json");
    refuses(&bench, &format!("{PLAN} -out={}", inside.display()), "the sandbox");
    for file in ["main.tf.json", "terraform.tfvars.json", "x.auto.tfvars.json", "./main.tf.json"] {
        refuses(&bench, &format!("{PLAN} -out={file}"), "reads a file of that name");
    }
    // Elsewhere, nothing reads it.
    fs::create_dir(bench.path("elsewhere")).unwrap();
    bench.run(&format!("{PLAN} -out=elsewhere/main.tf.json")).ok();
    // An empty file is a new account, and an input's file may be a link to another.
    fs::write(bench.path("account.json"), "").unwrap();
    refuses(&bench, &format!("{PLAN} -out=account.json"), "the sandbox");
    std::os::unix::fs::symlink("pool.json", bench.path("link.json")).unwrap();
    refuses(&bench, &format!("{PLAN} -out=link.json"), "the inputs are read from it");
    fs::write(bench.path("later.json"), "{}").unwrap();
    refuses(
        &bench,
        "plan --sandbox account.json -var-file pool.json -var-file=later.json -out later.json",
        "the inputs are read from it",
    );
}

#[test]
fn what_is_no_file_takes_no_plan() {
    let bench = bench();
    fs::create_dir(bench.path("directory")).unwrap();
    refuses(&bench, &format!("{PLAN} -out=directory"), "It is a directory");
    refuses(&bench, &format!("{PLAN} -out=no-such/p.tfplan"), "There is no directory no-such.");
    refuses(&bench, &format!("{PLAN} -out=directory/.."), "It is a directory");
    // A plan holds bootstrap data: it goes into a file of its owner's, or nowhere.
    for stream in ["/dev/stdout", "/dev/null", "-", "/dev/fd/1"] {
        let outcome = bench.run(&format!("{PLAN} -out={stream}")).fails("only its owner can read");
        assert!(!bench.path("account.json").exists() && !bench.path("-").exists(), "{}", outcome.err);
    }
    // Standard output can be a file, and its name among the open ones is no name for a plan all the same.
    let file = fs::File::create(bench.path("out.txt")).unwrap();
    let line = format!("{PLAN} -out=/dev/fd/1");
    let output = bench.command(line.split_whitespace()).stdout(file).output().unwrap();
    assert!(Outcome::of(&output).fails("only its owner can read").err.contains("/dev/fd/1"));
}

#[test]
fn an_earlier_plan_of_whichever_program_and_version_is_replaced() {
    let bench = bench();
    for before in [
        "",
        "{\"machinepool_plan\":1,\"written_by\":\"0.0.1\"}",
        "{\"machinepool_plan\":99,\"something\":\"new\"}",
        "{\"machinepool_plan\":4,\"cut",
    ] {
        bench.write("tfplan", before);
        for _ in 0..2 {
            bench.run(&format!("{PLAN} -out=tfplan")).ok();
            bench.run("show tfplan").ok();
        }
    }
    bench.run("apply --sandbox account.json tfplan").ok();
}
