//! Tables of identity providers for people. Compat: columns and padding are those of the Supabase CLI, so that scripts
//! that cut its output work; other than there, `UPDATED AT` is the time of the update and not of the creation.

use chrono::{DateTime, Utc};
use serde_json::Value;

/// Column titles of `sso list`.
const LIST_TITLES: [&str; 6] = [
    "TYPE",
    "IDENTITY PROVIDER ID",
    "DOMAINS",
    "SAML 2.0 EntityID",
    "CREATED AT (UTC)",
    "UPDATED AT (UTC)",
];
const PROPERTY_TITLES: [&str; 2] = ["PROPERTY", "VALUE"];

/// `sso list`: one row per provider.
pub(super) fn render_list(providers: &[Value]) -> String {
    let rows: Vec<[String; 6]> = providers
        .iter()
        .map(|provider| {
            [
                protocol(provider).to_owned(),
                text(&provider["id"]).to_owned(),
                domains(provider),
                or_dash(&provider["saml"]["entity_id"]),
                format_time(&provider["created_at"]),
                format_time(&provider["updated_at"]),
            ]
        })
        .collect();
    render_table(LIST_TITLES, &rows)
}

/// One provider: its properties, its attribute mapping and its metadata.
pub(super) fn render_provider(provider: &Value) -> String {
    let saml = &provider["saml"];
    let source = Some(text(&saml["metadata_url"])).filter(|url| !url.is_empty());
    let rows = [
        ("IDENTITY PROVIDER ID", text(&provider["id"]).to_owned()),
        ("TYPE", protocol(provider).to_owned()),
        ("DOMAINS", domains(provider)),
        ("SAML 2.0 METADATA", source.unwrap_or("FILE").to_owned()),
        ("SAML 2.0 EntityID", or_dash(&saml["entity_id"])),
        ("NAMEID FORMAT", or_dash(&saml["name_id_format"])),
        ("CREATED AT (UTC)", format_time(&provider["created_at"])),
        ("UPDATED AT (UTC)", format_time(&provider["updated_at"])),
    ];
    let mut shown = render_table(
        PROPERTY_TITLES,
        &rows.map(|(name, value)| [name.to_owned(), value]),
    );
    let mapping = &saml["attribute_mapping"];
    if mapping["keys"].as_object().is_some_and(|keys| !keys.is_empty()) {
        let mapping = serde_json::to_string_pretty(mapping).unwrap_or_default();
        shown += &format!("## Attribute Mapping\n```json\n{mapping}\n```\n");
    }
    let metadata = text(&saml["metadata_xml"]);
    if !metadata.is_empty() {
        let metadata = indent_xml(metadata);
        shown += &format!("## SAML 2.0 Metadata XML\n```xml\n{metadata}\n```\n");
    }
    shown
}

/// `sso info`: assertion consumer service, entity ID and relay state.
pub(super) fn render_service_addresses([acs_url, entity_id, relay_state]: [&str; 3]) -> String {
    let rows = [
        ["Single sign-on URL (ACS URL)", acs_url],
        ["Audience URI (SP Entity ID)", entity_id],
        ["Default Relay State", relay_state],
    ];
    render_table(PROPERTY_TITLES, &rows.map(|row| row.map(str::to_owned)))
}

/// The e-mail domains of a provider.
pub(super) fn list_domains(provider: &Value) -> impl Iterator<Item = &str> {
    let domains = provider["domains"].as_array().into_iter().flatten();
    domains
        .map(|domain| text(&domain["domain"]))
        .filter(|domain| !domain.is_empty())
}

fn domains(provider: &Value) -> String {
    let domains: Vec<&str> = list_domains(provider).collect();
    if domains.is_empty() {
        "-".to_owned()
    } else {
        domains.join(", ")
    }
}

fn protocol(provider: &Value) -> &'static str {
    if provider["saml"].is_object() {
        "SAML 2.0"
    } else {
        "unknown"
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn or_dash(value: &Value) -> String {
    Some(text(value))
        .filter(|value| !value.is_empty())
        .unwrap_or("-")
        .to_owned()
}

/// Formats a time in UTC without its zone; text that is not a time is shown unchanged.
fn format_time(value: &Value) -> String {
    let value = text(value);
    match DateTime::parse_from_rfc3339(value) {
        Ok(time) => time.with_timezone(&Utc).format("%Y-%m-%d %H:%M:%S").to_string(),
        Err(_) => value.to_owned(),
    }
}

/// A table whose columns are as wide as their longest cell.
fn render_table<const N: usize>(titles: [&str; N], rows: &[[String; N]]) -> String {
    // Characters are counted and not bytes, so that columns with umlauts line up.
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([titles[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: [usize; N] = std::array::from_fn(width);
    let render_row = |cells: [&str; N]| {
        let padded: Vec<String> = cells
            .iter()
            .zip(widths)
            .map(|(cell, width)| format!(" {cell:width$} "))
            .collect();
        format!("  {}\n", padded.join("|"))
    };
    let rule = widths.map(|width| "-".repeat(width + 2)).join("|");
    let mut table = format!("\n  \n{}  {rule}\n", render_row(titles));
    for row in rows {
        table += &render_row(std::array::from_fn(|column| row[column].as_str()));
    }
    table + "\n"
}

/// Puts each tag of an XML text on a new line, indented by its depth; an element with only text stays on one line.
fn indent_xml(xml: &str) -> String {
    let mut shown = String::new();
    let mut depth = 0_usize;
    let mut holds_text = false;
    let mut rest = xml.trim();
    while let Some(start) = rest.find('<') {
        let content = rest[..start].trim();
        shown += content;
        rest = &rest[start..];
        let end = find_markup_end(rest);
        let (tag, after) = rest.split_at(end);
        if tag.starts_with("</") {
            depth = depth.saturating_sub(1);
        }
        if !(tag.starts_with("</") && holds_text) {
            shown += &format!("\n{}", "  ".repeat(depth + 1));
        }
        shown += tag;
        // Only a start tag is followed by content that belongs one level deeper.
        let is_start = !tag.starts_with("</")
            && !tag.starts_with("<!")
            && !tag.starts_with("<?")
            && !tag.ends_with("/>");
        depth += usize::from(is_start);
        holds_text = is_start && !after.trim_start().starts_with('<');
        rest = after;
    }
    shown + rest.trim()
}

/// Length of the tag or comment that a text begins with.
fn find_markup_end(text: &str) -> usize {
    let end = if text.starts_with("<!--") { "-->" } else { ">" };
    text.find(end).map_or(text.len(), |start| start + end.len())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn saml_014_a_list_has_the_columns_of_the_cli() {
        let provider = json!({
            "id": "0b0d48f6-878b-4190-88d7-2ca33ed800bc",
            "saml": {"entity_id": "https://example.com"},
            "domains": [{"domain": "example.com"}, {"domain": "other.com"}],
            "created_at": "2023-03-28T13:50:14.464Z", "updated_at": "2023-03-29T15:50:14+02:00",
        });
        assert_eq!(
            render_list(&[provider]),
            "\n  \n   TYPE     | IDENTITY PROVIDER ID                 | DOMAINS                | SAML 2.0 EntityID   | CREATED AT (UTC)    | UPDATED AT (UTC)    \n\
             \x20 ----------|--------------------------------------|------------------------|---------------------|---------------------|---------------------\n\
             \x20  SAML 2.0 | 0b0d48f6-878b-4190-88d7-2ca33ed800bc | example.com, other.com | https://example.com | 2023-03-28 13:50:14 | 2023-03-29 13:50:14 \n\n"
        );
    }

    #[test]
    fn saml_014_a_provider_is_shown_with_its_mapping_and_its_metadata() {
        let provider = json!({
            "id": "1", "domains": [], "created_at": "now",
            "saml": {
                "metadata_url": "https://idp.example/metadata",
                "attribute_mapping": {"keys": {"name": {"name": "cn"}}},
                "metadata_xml": "<?xml version=\"1.0\"?><a><b> text </b><c/>  <!-- a > b --><d></d></a>\n",
            },
        });
        let shown = render_provider(&provider);
        assert!(
            shown.contains("   DOMAINS              | -                            \n"),
            "{shown}"
        );
        assert!(
            shown.contains("   SAML 2.0 METADATA    | https://idp.example/metadata \n"),
            "{shown}"
        );
        assert!(shown.contains("   CREATED AT (UTC)     | now "), "{shown}");
        assert!(
            shown.contains("## Attribute Mapping\n```json\n{\n  \"keys\": {\n"),
            "{shown}"
        );
        let metadata = "\n  <?xml version=\"1.0\"?>\n  <a>\n    <b>text</b>\n    <c/>\n    <!-- a > b -->\n    <d>\n    </d>\n  </a>\n```\n";
        assert!(shown.ends_with(metadata), "{shown}");
    }
}
