//! The arguments of the root's module block: values in Terraform's JSON syntax.

use crate::contract::json::Json;

/// One argument of the module block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// `${var.NAME}`
    Variable(String),
    /// A value without any expression in it.
    Literal(Json),
    /// A list with variables in it.
    List(Vec<Argument>),
    /// An object with variables in it.
    Object(Vec<(String, Argument)>),
    /// An expression that only Terraform could evaluate.
    Expression,
}

impl Argument {
    /// The variables in it.
    pub(super) fn variables(&self) -> Vec<&str> {
        match self {
            Self::Variable(name) => vec![name],
            Self::List(items) => items.iter().flat_map(Self::variables).collect(),
            Self::Object(fields) => fields.iter().flat_map(|(_, field)| field.variables()).collect(),
            Self::Literal(_) | Self::Expression => Vec::new(),
        }
    }
}

/// A value as Terraform reads it in a module block: its texts are templates, the names in its objects, too.
pub(super) fn argument(value: &Json) -> Argument {
    match value {
        Json::String(text) => match reference(text, "var.") {
            Some(name) => Argument::Variable(name.to_owned()),
            None => literal(text).map_or(Argument::Expression, |text| Argument::Literal(Json::String(text))),
        },
        Json::Array(items) => {
            let items: Vec<Argument> = items.iter().map(argument).collect();
            if items.contains(&Argument::Expression) {
                return Argument::Expression;
            }
            whole(&items).map_or(Argument::List(items), |items| Argument::Literal(Json::Array(items)))
        }
        Json::Object(fields) => {
            let field = |(name, value): &(String, Json)| match argument(value) {
                Argument::Expression => None,
                value => Some((literal(name)?, value)),
            };
            let Some(fields) = fields.iter().map(field).collect::<Option<Vec<_>>>() else {
                return Argument::Expression;
            };
            let (names, values): (Vec<String>, Vec<Argument>) = fields.into_iter().unzip();
            match whole(&values) {
                Some(values) => Argument::Literal(Json::Object(names.into_iter().zip(values).collect())),
                None => Argument::Object(names.into_iter().zip(values).collect()),
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => Argument::Literal(value.clone()),
    }
}

/// The values of arguments that are all literal.
fn whole(arguments: &[Argument]) -> Option<Vec<Json>> {
    let literal = |argument: &Argument| match argument {
        Argument::Literal(value) => Some(value.clone()),
        _ => None,
    };
    arguments.iter().map(literal).collect()
}

/// The text of a template without an expression in it: `$${` stands for `${` and `%%{` for `%{`, whatever
/// comes before. `None` if there is an expression. (Tried with terraform 1.11.4.)
pub(super) fn literal(template: &str) -> Option<String> {
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(at) = rest.find('{') {
        let (before, after) = rest.split_at(at + 1);
        rest = after;
        let sign = &before[..at];
        match (sign.strip_suffix("$$"), sign.strip_suffix("%%")) {
            (Some(start), _) => text.extend([start, "${"]),
            (_, Some(start)) => text.extend([start, "%{"]),
            _ if sign.ends_with(['$', '%']) => return None,
            _ => text.push_str(before),
        }
    }
    Some(text + rest)
}

/// NAME of `${<prefix>NAME}`.
pub(super) fn reference<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let name = text.strip_prefix("${")?.strip_suffix('}')?.trim().strip_prefix(prefix)?;
    let identifier = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    (!name.is_empty() && name.chars().all(identifier)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What terraform 1.11.4 makes of a text in a module block; `None` where it evaluates something.
    const TEMPLATES: [(&str, Option<&str>); 19] = [
        ("$${a}", Some("${a}")),
        ("$$${a}", Some("$${a}")),
        ("$$$$${\"x\"}", Some("$$$${\"x\"}")),
        ("%%{a}", Some("%{a}")),
        ("%%%{ if", Some("%%{ if")),
        ("%$${", Some("%${")),
        ("$%%{", Some("$%{")),
        ("a$${b}c%%{d}e", Some("a${b}c%{d}e")),
        ("$${", Some("${")),
        ("$$", Some("$$")),
        ("$", Some("$")),
        ("100% of $a", Some("100% of $a")),
        ("{\"a\": {}}", Some("{\"a\": {}}")),
        ("", Some("")),
        ("\u{e9}{$${\u{e9}}", Some("\u{e9}{${\u{e9}}")),
        ("$%{", None),
        ("a$$b${\"x\"}", None),
        ("$${\"${\"}", None),
        ("~${~", None),
    ];

    #[test]
    fn texts_are_read_as_the_templates_that_they_are() {
        for (template, wanted) in TEMPLATES {
            assert_eq!(literal(template).as_deref(), wanted, "{template}");
        }
    }
}
