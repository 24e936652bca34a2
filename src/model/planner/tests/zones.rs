//! The record of the zones, edited by hand.

use super::*;

#[test]
fn an_edited_record_of_the_zones_moves_nobody_and_is_mended() {
    for edited in ["us-east-1a", "nonsense"] {
        let mut observed = settled(unchanged);
        group_of(&mut observed).tags.get_mut(records::ZONES).unwrap().value = edited.into();
        let plan = plan_for(unchanged, &observed);
        assert_eq!(actions(&plan), [(Address::Group, Action::Update)], "{edited}");
        assert!(plan.replaced.is_empty());
        let all = "us-east-1a/us-east-1b/us-east-1c";
        assert_eq!(plan.changes[0].fields.len(), 1);
        assert_eq!(plan.changes[0].fields[0].then.as_deref(), Some(all));
        assert!(
            matches!(writes(&plan)[..], [Write::TagGroup { tags, .. }] if tags[records::ZONES] == all),
            "{:?}",
            writes(&plan)
        );
        let told = plan.warnings.iter().find(|w| w.summary.contains("edited the record")).unwrap();
        assert!(told.detail.contains(edited), "{}", told.detail);
    }
    let mut observed = settled(unchanged);
    observed.templates[0].tags.insert(records::ZONES.into(), "us-east-1a".into());
    let plan = plan_for(unchanged, &observed);
    assert_eq!(actions(&plan), [(Address::Template, Action::Update)]);
    assert!(plan.warnings.iter().any(|w| w.summary.contains("edited the record")));
}
