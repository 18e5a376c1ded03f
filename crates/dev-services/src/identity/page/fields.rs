//! One text field of a form, with its label, hint and error.

use crate::identity::html::escape;
use crate::identity::person::FieldError;

/// A text field of the form.
pub(super) struct Field<'a> {
    name: &'static str,
    label: &'static str,
    value: &'a str,
    kind: &'static str,
    hint: &'static str,
    is_required: bool,
    /// Name under which errors of this field are reported.
    errors_of: &'static str,
}

impl<'a> Field<'a> {
    pub(super) fn new(name: &'static str, label: &'static str, value: &'a str) -> Self {
        Self {
            name,
            label,
            value,
            kind: "text",
            hint: "",
            is_required: false,
            errors_of: name,
        }
    }

    pub(super) fn required(mut self) -> Self {
        self.is_required = true;
        self
    }

    pub(super) fn of_type(mut self, kind: &'static str) -> Self {
        self.kind = kind;
        self
    }

    pub(super) fn hinted(mut self, hint: &'static str) -> Self {
        self.hint = hint;
        self
    }

    pub(super) fn with_errors_of(mut self, name: &'static str) -> Self {
        self.errors_of = name;
        self
    }
}

/// Renders a field; an error is connected with it for screen readers, and the first one gets the focus.
pub(super) fn render_field(field: &Field<'_>, errors: &[FieldError]) -> String {
    let name = field.name;
    let error = errors.iter().find(|error| error.field == field.errors_of);
    let is_first = errors.first().is_some_and(|first| first.field == field.errors_of);
    let mut attributes = String::new();
    if field.is_required {
        attributes.push_str(" required");
    }
    let mut described = Vec::new();
    if error.is_some() {
        attributes.push_str(" aria-invalid=\"true\"");
        described.push(format!("{name}-error"));
    }
    if is_first {
        attributes.push_str(" autofocus");
    }
    if !field.hint.is_empty() {
        described.push(format!("{name}-hint"));
    }
    if !described.is_empty() {
        attributes.push_str(&format!(" aria-describedby=\"{}\"", described.join(" ")));
    }
    let hint = match field.hint {
        "" => String::new(),
        hint => format!("<span class=\"hint\" id=\"{name}-hint\">{hint}</span>"),
    };
    let message = error.map_or_else(String::new, |error| {
        format!(
            "<span class=\"error\" id=\"{name}-error\" role=\"alert\">{} </span>",
            escape(&error.message)
        )
    });
    format!(
        "<p><label for=\"{name}\">{}</label><input id=\"{name}\" name=\"{name}\" type=\"{}\" value=\"{}\" \
         autocomplete=\"off\"{attributes}>{message}{hint}</p>",
        field.label,
        field.kind,
        escape(field.value),
    )
}
