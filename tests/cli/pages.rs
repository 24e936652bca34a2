//! The pages in `docs/` say what is true: texts are the program's, links lead somewhere, commands run.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All files below `directory` whose names end so.
fn files(directory: &Path, end: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, end));
        } else if path.to_str().is_some_and(|name| name.ends_with(end)) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn pages() -> Vec<PathBuf> {
    let mut pages = files(&root().join("docs"), ".md");
    pages.push(root().join("README.md"));
    pages
}

/// The fenced blocks of one language.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if line.trim_start() == format!("```{language}") {
            let indent = line.len() - line.trim_start().len();
            let inside = lines.by_ref().take_while(|line| line.trim() != "```");
            blocks.push(inside.map(|line| line.get(indent..).unwrap_or("")).collect::<Vec<_>>().join("\n"));
        }
    }
    blocks
}

/// Source text as a person sees what it prints: continued lines joined, placeholders as dots.
fn printed(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("\\\n") {
            rest = after.trim_start();
        } else if let Some(after) = rest.strip_prefix("\\\"") {
            text.push('"');
            rest = after;
        } else if let Some((inside, after)) = placeholder(rest) {
            text.push_str("...");
            rest = &rest[inside.len() + after..];
        } else {
            text.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    text
}

/// `{name}` or `$name` at the beginning, and how many bytes of it are no name.
fn placeholder(text: &str) -> Option<(&str, usize)> {
    let name = |text: &'_ str| text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.');
    if let Some(after) = text.strip_prefix('{') {
        let end = name(after)?;
        return after[end..].starts_with('}').then(|| (&after[..end], 2));
    }
    let after = text.strip_prefix('$')?;
    let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
    (end > 0).then(|| (&after[..end], 1))
}

#[test]
fn texts_in_the_troubleshooting_page_are_the_programs_own() {
    let page = read(&root().join("docs/troubleshooting.md"));
    let mut sources = files(&root().join("src"), ".rs");
    sources.extend(files(&root().join("src"), ".sh"));
    let said: String = sources.iter().map(|path| printed(&read(path))).collect();

    let boxes = blocks(&page, "text").join("\n");
    let console = page.lines().filter_map(|line| line.trim().strip_prefix("| `")?.split('`').next());
    let mut looked_at = 0;
    for line in boxes.lines().chain(console) {
        let words =
            ["Error: ", "Warning: "].iter().find_map(|label| line.strip_prefix(label)).unwrap_or(line);
        let words = words.trim_start_matches("... ").trim_end_matches(" ...").trim();
        assert!(said.contains(words), "the program never says {words:?}");
        looked_at += 1;
    }
    assert!(looked_at > 30, "only {looked_at} texts were found");
}

/// What a heading is called in a link, as GitHub makes it.
fn anchor(heading: &str) -> String {
    heading
        .trim_start_matches('#')
        .trim()
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() })
        .collect()
}

fn anchors(page: &str) -> BTreeSet<String> {
    let mut fenced = false;
    let headings = page.lines().filter(move |line| {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        !fenced && line.starts_with('#')
    });
    headings.map(anchor).collect()
}

#[test]
fn links_lead_somewhere() {
    let mut followed = 0;
    for path in pages() {
        let page = read(&path);
        for rest in page.split("](").skip(1) {
            let target = rest.split(')').next().unwrap();
            if target.starts_with("http") || target.contains(['$', ' ', '\n']) {
                continue;
            }
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let linked = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            assert!(linked.exists(), "{} links to {target}", path.display());
            if !heading.is_empty() {
                assert!(anchors(&read(&linked)).contains(heading), "{} links to {target}", path.display());
            }
            followed += 1;
        }
    }
    assert!(followed > 20, "only {followed} links were found");
}

#[test]
fn every_page_is_linked_from_the_readme() {
    let readme = read(&root().join("README.md"));
    for path in files(&root().join("docs"), ".md") {
        let name = path.strip_prefix(root()).unwrap().to_str().unwrap();
        assert!(readme.contains(&format!("({name})")), "README.md does not link {name}");
    }
}

/// The check that a pipeline copies does what it says, for good inputs and for bad ones.
#[test]
fn the_check_for_pipelines_tells_good_inputs_from_bad_ones() {
    let page = read(&root().join("docs/ci.md"));
    let check = blocks(&page, "sh").into_iter().next().unwrap();
    assert!(check.contains("machinepool validate") && check.contains("-detailed-exitcode"));
    let program = Path::new(env!("CARGO_BIN_EXE_machinepool")).parent().unwrap();
    let run = |inputs: &str| {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("pool.tfvars.json"), inputs).unwrap();
        Command::new("sh")
            .args(["-c", &check])
            .env_clear()
            .env("PATH", format!("{}:/usr/bin:/bin", program.display()))
            .env("TMPDIR", directory.path())
            .current_dir(directory.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap()
            .code()
    };
    let demo = read(&root().join("testdata/demo.tfvars.json"));
    assert_eq!(run(&demo), Some(0));
    assert_eq!(run(&demo.replace("\"v1alpha1\"", "\"v2\"")), Some(1));
    // Only a plan sees that no image can be looked up.
    let versionless = demo.replace("\"kubernetes_version\": \"v1.34.1\"", "\"kubernetes_version\": null");
    assert_ne!(versionless, demo);
    assert_eq!(run(&versionless), Some(1));
}
