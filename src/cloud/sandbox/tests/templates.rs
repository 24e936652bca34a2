//! Launch templates.

use super::*;

fn version_of(lab: &Lab, id: &str) -> Write {
    Write::CreateTemplateVersion {
        template_id: id.to_owned(),
        description: "next".to_owned(),
        data: Box::new(lab.data()),
    }
}

fn numbers(lab: &Lab, query: &VersionQuery) -> Vec<u64> {
    run(lab.sandbox.versions(query)).unwrap().into_iter().map(|version| version.number).collect()
}

#[test]
fn template_names_are_unique() {
    let lab = Lab::new();
    lab.template("pool-1");
    let error = lab.refusal(&create_template("pool-1", lab.data()));
    let code = "InvalidLaunchTemplateName.AlreadyExistsException";
    assert_eq!((error.kind, error.code.as_str()), (ErrorKind::AlreadyExists, code));
    for name in ["ab", "a b c", &"x".repeat(129)] {
        assert_eq!(lab.refusal(&create_template(name, lab.data())).kind, ErrorKind::Validation);
    }
}

#[test]
fn versions_are_numbered_on_and_the_first_is_the_default() {
    let lab = Lab::new();
    let id = lab.template("pool-1");
    assert_eq!(lab.perform(&version_of(&lab, &id)).unwrap(), Answer::Version(2));
    assert_eq!(lab.perform(&version_of(&lab, &id)).unwrap(), Answer::Version(3));
    let template = run(lab.sandbox.templates(&TemplateQuery::Id(id.clone()))).unwrap().remove(0);
    assert_eq!((template.default_version, template.latest_version), (1, 3));
    for query in [VersionQuery::CurrentById(id.clone()), VersionQuery::CurrentByName("pool-1".to_owned())] {
        assert_eq!(numbers(&lab, &query), [1, 3]);
    }
    let all = VersionQuery::All(id.clone());
    assert_eq!(numbers(&lab, &all), [1, 2, 3]);
    let set = |version| Write::SetDefaultVersion { template_id: id.clone(), version };
    lab.perform(&set(Some(3))).unwrap();
    assert_eq!(numbers(&lab, &VersionQuery::CurrentById(id.clone())), [3]);
    let versions = run(lab.sandbox.versions(&all)).unwrap();
    assert_eq!(versions.iter().map(|v| v.is_default).collect::<Vec<_>>(), [false, false, true]);
    assert_eq!((versions[2].data.clone(), versions[2].description.as_deref()), (lab.data(), Some("next")));
    assert_eq!(lab.refusal(&set(Some(4))).kind, ErrorKind::NotFound);
    assert_eq!(lab.refusal(&set(None)).kind, ErrorKind::Validation);
    // A number is never given out again.
    lab.perform(&set(Some(1))).unwrap();
    lab.perform(&Write::DeleteTemplateVersions { template_id: id.clone(), versions: vec![3] }).unwrap();
    assert_eq!(lab.perform(&version_of(&lab, &id)).unwrap(), Answer::Version(4));
}

#[test]
fn the_default_version_is_not_deleted() {
    let lab = Lab::new();
    let id = lab.template("pool-1");
    lab.perform(&version_of(&lab, &id)).unwrap();
    let delete = |versions: Vec<u64>| Write::DeleteTemplateVersions { template_id: id.clone(), versions };
    assert_eq!(lab.refusal(&delete(vec![1, 2])).code, "OperationNotPermitted");
    assert_eq!(numbers(&lab, &VersionQuery::All(id.clone())), [1], "the other one is deleted all the same");
    assert_eq!(lab.refusal(&delete(vec![7])).kind, ErrorKind::NotFound);
    assert_eq!(lab.refusal(&delete((2..203).collect())).kind, ErrorKind::Validation);
}

#[test]
fn not_found_has_one_code_by_id_and_answers_reads_with_nothing() {
    let lab = Lab::new();
    let id = "lt-0dead".to_owned();
    let writes = [
        version_of(&lab, &id),
        Write::SetDefaultVersion { template_id: id.clone(), version: Some(1) },
        Write::DeleteTemplateVersions { template_id: id.clone(), versions: vec![1] },
        Write::DeleteTemplate { template_id: id.clone() },
        Write::TagTemplate { template_id: id.clone(), tags: tags(&[("a", "b")]) },
        Write::UntagTemplate { template_id: id.clone(), keys: ["a".to_owned()].into() },
    ];
    for write in writes {
        let error = lab.refusal(&write);
        assert_eq!(
            (error.kind, error.code.as_str()),
            (ErrorKind::NotFound, "InvalidLaunchTemplateId.NotFound")
        );
    }
    assert_eq!(run(lab.sandbox.templates(&TemplateQuery::Id(id.clone()))).unwrap(), []);
    let none = "none".to_owned();
    for query in
        [VersionQuery::All(id.clone()), VersionQuery::CurrentById(id), VersionQuery::CurrentByName(none)]
    {
        assert_eq!(run(lab.sandbox.versions(&query)).unwrap(), []);
    }
}

#[test]
fn templates_are_listed_by_prefix_and_by_all_tags_sorted_by_name() {
    let lab = Lab::new();
    for name in ["pool-b", "pool-a", "other"] {
        lab.template(name);
    }
    let names = |query: TemplateQuery| -> Vec<String> {
        run(lab.sandbox.templates(&query)).unwrap().into_iter().map(|template| template.name).collect()
    };
    assert_eq!(names(TemplateQuery::NamePrefix("pool-".to_owned())), ["pool-a", "pool-b"]);
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let ours = pair("captf.io/name", "demo-pool-0");
    assert_eq!(names(TemplateQuery::Tagged(vec![ours.clone()])).len(), 3);
    assert_eq!(names(TemplateQuery::Tagged(vec![ours, pair("a", "b")])).len(), 0);
}

#[test]
fn user_data_is_limited_before_base64() {
    let lab = Lab::new();
    let with = |length: usize| TemplateData { user_data: Some("x".repeat(length)), ..lab.data() };
    lab.perform(&create_template("fits", with(16_384))).unwrap();
    let error = lab.refusal(&create_template("long", with(16_385)));
    assert_eq!((error.kind, error.code.as_str()), (ErrorKind::Validation, "InvalidUserData.Malformed"));
}

#[test]
fn limits_on_template_tags_hold() {
    let lab = Lab::new();
    let id = lab.template("pool-1");
    let many = |count: usize| (0..count).map(|n| (format!("t{n}"), String::new())).collect::<Tags>();
    let tag = |tags: Tags| Write::TagTemplate { template_id: id.clone(), tags };
    lab.perform(&tag(many(49))).unwrap();
    assert_eq!(lab.refusal(&tag(many(50))).code, "TagLimitExceeded");
    for (key, value) in [("aws:x", "v"), ("k", "a,b"), ("", "v")] {
        assert_eq!(lab.refusal(&tag(tags(&[(key, value)]))).code, "InvalidParameterValue");
    }
    let keys = (0..49).map(|n| format!("t{n}")).collect();
    lab.perform(&Write::UntagTemplate { template_id: id.clone(), keys }).unwrap();
    let template = run(lab.sandbox.templates(&TemplateQuery::Id(id.clone()))).unwrap().remove(0);
    assert_eq!(template.tags, tags(&[("captf.io/name", "demo-pool-0")]));
    let data = |tags: Tags| TemplateData { tags: [("instance".to_owned(), tags)].into(), ..lab.data() };
    assert_eq!(lab.refusal(&create_template("many", data(many(51)))).code, "TagLimitExceeded");
    lab.perform(&create_template("many", data(many(50)))).unwrap();
}

#[test]
fn a_template_in_use_is_deleted_all_the_same() {
    let lab = Lab::with_group(1);
    let Launch::Template(template) = lab.group().launch else { panic!("a template") };
    lab.perform(&Write::DeleteTemplate { template_id: template.id.clone() }).unwrap();
    assert_eq!(lab.group().launch, Launch::Template(template), "the group goes on naming it");
    let error = lab.refusal(&start_refresh());
    assert_eq!(error.kind, ErrorKind::Validation);
}
