//! Fields that are a number, a yes or no, a length of time, a list or the
//! name of another blueprint.

use durable::Span;

use super::{Compiled, Reader};
use crate::node_type::Field;
use crate::template::Part;
use crate::yaml::{Data, Yaml, shorten};
use crate::{BlueprintId, Count, Rule, Template};

/// The field whose faults have a rule of their own.
const MAX_ITERATIONS: &str = "max_iterations";

impl<'t> Reader<'_, '_, 't> {
    /// A whole number, or where the field takes one, a single template.
    pub(super) fn count(
        &mut self,
        field: &'static Field,
        value: &'t Yaml<'t>,
        (least, most): (u64, u64),
    ) -> Option<Compiled> {
        let number = match &value.data {
            Data::Number(number) => number.as_u64(),
            Data::Text(text) if field.templated => {
                let template = self.template(text, &value.span)?;
                if is_one_place(&template) {
                    return Some(Compiled::Count(Count::From(template)));
                }
                None
            }
            Data::Null
            | Data::Bool(_)
            | Data::Text(_)
            | Data::List(_)
            | Data::Map(_)
            | Data::Refused => None,
        };
        if let Some(number) = number.filter(|number| (least..=most).contains(number)) {
            return Some(Compiled::Count(Count::Is(number)));
        }
        let or = if field.templated { ", or one `{{…}}`" } else { "" };
        let wanted = format!("a whole number from {least} to {most}{or}");
        let finding = self.wrong(field, value, &wanted);
        if field.id == MAX_ITERATIONS {
            finding.rule = Rule::InvalidLoopMaxIterations;
        }
        None
    }

    pub(super) fn flag(&mut self, field: &'static Field, value: &'t Yaml<'t>) -> Option<Compiled> {
        if let Data::Bool(flag) = &value.data {
            return Some(Compiled::Flag(*flag));
        }
        self.wrong(field, value, "`true` or `false`");
        None
    }

    /// A length of time; one that a template gives is read when it is there.
    pub(super) fn duration(
        &mut self,
        field: &'static Field,
        value: &'t Yaml<'t>,
    ) -> Option<Compiled> {
        if let Data::Text(text) = &value.data {
            let template = self.template(text, &value.span)?;
            if template.literal().is_none_or(|text| text.trim().parse::<Span>().is_ok()) {
                return Some(Compiled::Template(template));
            }
        }
        let suggestion = match &value.data {
            Data::Number(number) => format!("write the unit: `{number}s` or `{number}m`"),
            Data::Null
            | Data::Bool(_)
            | Data::Text(_)
            | Data::List(_)
            | Data::Map(_)
            | Data::Refused => "write for example `90s`, `10m`, `1h30m` or `3d`".to_owned(),
        };
        self.wrong(field, value, "a length of time").suggest(suggestion);
        None
    }

    /// A path that leads to a list, bare or as the one place of a text.
    pub(super) fn items(&mut self, field: &'static Field, value: &'t Yaml<'t>) -> Option<Compiled> {
        let text = self.text(field, value)?;
        if text.contains("{{") {
            let template = self.template(text, &value.span)?;
            if is_one_place(&template) {
                return Some(Compiled::Template(template));
            }
        } else if let Ok(template) = Template::path(text) {
            self.uses.add(&template, &value.span, text);
            return Some(Compiled::Template(template));
        }
        self.wrong(field, value, "a path that leads to a list")
            .suggest("write for example `nodes.find.output.files`");
        None
    }

    pub(super) fn automation(
        &mut self,
        field: &'static Field,
        value: &'t Yaml<'t>,
    ) -> Option<Compiled> {
        let text = self.text(field, value)?;
        match BlueprintId::new(text) {
            Ok(id) => Some(Compiled::Automation(id)),
            Err(error) => {
                let message = format!("`{}` is the id of no blueprint: {error}", shorten(text));
                self.sink
                    .error(Rule::InvalidFieldValue, &value.span, message)
                    .suggest("write what the other blueprint has as its `id:`");
                None
            }
        }
    }
}

fn is_one_place(template: &Template) -> bool {
    matches!(template.parts(), [Part::Value(_)])
}
