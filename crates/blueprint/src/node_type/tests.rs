//! The registry as its readers see it.

use std::collections::BTreeSet;

use super::*;

#[test]
fn no_two_types_share_an_id_and_no_two_fields_of_a_type() {
    let ids: BTreeSet<_> = all().map(|t| t.id).collect();
    assert_eq!(ids.len(), all().count());
    for node_type in all() {
        let fields: BTreeSet<_> = node_type.fields.iter().map(|f| f.id).collect();
        assert_eq!(fields.len(), node_type.fields.len(), "{}", node_type.id);
    }
}

#[test]
fn ports_from_a_field_come_from_a_required_list_of_ports() {
    for node_type in all() {
        if let Outputs::FromField(id) = node_type.outputs {
            let field = node_type.field(id).unwrap();
            assert!(field.required && field.multiple && field.kind == FieldKind::BranchPort);
        }
    }
}

#[test]
fn the_types_that_run_are_these() {
    let runs: Vec<_> = all().filter(|t| t.supported()).map(|t| t.id).collect();
    insta::assert_snapshot!(runs.join(" "), @"manual_trigger branch loop for_each join approval wait task decision shell script http state notify sub_automation");
    let not_yet: Vec<_> = all().filter(|t| !t.supported()).map(|t| t.id).collect();
    insta::assert_snapshot!(not_yet.join(" "), @"message_send memory_commit");
}

#[test]
fn the_listing_has_the_shape_that_its_readers_know() {
    insta::assert_json_snapshot!(find("decision").unwrap());
}
