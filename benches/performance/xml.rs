//! XML as AWS writes it: indented, which is a good part of its size.

use std::fmt::{Display, Write as _};

use machinepool::contract::request::Tags;

#[derive(Default)]
pub(crate) struct Xml {
    out: String,
    depth: usize,
}

impl Xml {
    /// A document: its element, the element's namespace, what is in it.
    pub(crate) fn document(name: &str, namespace: &str, content: impl FnOnce(&mut Self)) -> String {
        let mut xml = Self { out: "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned(), depth: 1 };
        let _ = writeln!(xml.out, "<{name} xmlns=\"{namespace}\">");
        content(&mut xml);
        let _ = writeln!(xml.out, "</{name}>");
        xml.out
    }

    /// An element that holds text.
    pub(crate) fn leaf(&mut self, name: &str, value: impl Display) {
        let value = escaped(&value.to_string());
        self.indent();
        let _ = writeln!(self.out, "<{name}>{value}</{name}>");
    }

    /// One that is there only with a value.
    pub(crate) fn leaf_if(&mut self, name: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.leaf(name, value);
        }
    }

    /// Several that hold text.
    pub(crate) fn leaves(&mut self, pairs: &[(&str, &str)]) {
        for (name, value) in pairs {
            self.leaf(name, value);
        }
    }

    /// An empty element.
    pub(crate) fn empty(&mut self, name: &str) {
        self.indent();
        let _ = writeln!(self.out, "<{name}/>");
    }

    /// An element that holds others.
    pub(crate) fn node(&mut self, name: &str, content: impl FnOnce(&mut Self)) {
        self.indent();
        let _ = writeln!(self.out, "<{name}>");
        self.depth += 1;
        content(self);
        self.depth -= 1;
        self.indent();
        let _ = writeln!(self.out, "</{name}>");
    }

    /// A list: its element, that of an item, what is in an item.
    pub(crate) fn list<T>(
        &mut self,
        name: &str,
        item: &str,
        items: impl IntoIterator<Item = T>,
        mut content: impl FnMut(&mut Self, T),
    ) {
        self.node(name, |xml| {
            for each in items {
                xml.node(item, |xml| content(xml, each));
            }
        });
    }

    /// Tags as EC2 lists them.
    pub(crate) fn tag_set(&mut self, tags: &Tags) {
        self.list("tagSet", "item", tags, |xml, (key, value)| {
            xml.leaves(&[("key", key), ("value", value)]);
        });
    }

    fn indent(&mut self) {
        let _ = write!(self.out, "{:width$}", "", width = 4 * self.depth);
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
