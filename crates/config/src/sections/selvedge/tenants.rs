//! `[selvedge.tenants]`: tenants that have a schema each.

use selvedge_rest::ClaimPath;

use crate::reader::section::Section;

/// `[selvedge.tenants]`.
#[derive(Debug, Clone)]
pub struct TenantsSection {
    /// Where in a caller's token the tenant is, such as `$.app_metadata.tenant`. Requests that name no schema use that of the
    /// tenant. Default: none, all of them use the first schema of `api.schemas`.
    pub claim: Option<ClaimPath>,
}

impl TenantsSection {
    pub(super) fn read(section: &Section<'_>) -> Self {
        let claim = section
            .optional_string("claim")
            .map(|text| ClaimPath::parse(&text));
        if let Some(Err(reason)) = &claim {
            section.report_error("claim", &format!("is no path of a claim: {reason}"));
        }
        Self {
            claim: claim.and_then(Result::ok),
        }
    }
}
