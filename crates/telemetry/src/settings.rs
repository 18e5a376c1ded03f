//! Whether and where traces are sent: by the project's configuration and OpenTelemetry's standard variables.

/// The variables that name a collector.
const ENDPOINT_VARIABLES: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
];

/// Where traces are sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TelemetrySettings {
    /// Base URL of the collector, such as `http://collector:4318`. `None` leaves the choice to the standard variables.
    pub(crate) endpoint: Option<String>,
}

impl TelemetrySettings {
    /// Returns the settings of a project whose configuration has `endpoint`, with the variables that `read_variable`
    /// returns. `None` when there is no collector, or a variable disables tracing.
    pub fn from_variables(
        endpoint: Option<&str>,
        read_variable: impl Fn(&str) -> Option<String>,
    ) -> Option<Self> {
        let is = |name: &str, value: &str| {
            read_variable(name).is_some_and(|found| found.trim().eq_ignore_ascii_case(value))
        };
        if is("OTEL_SDK_DISABLED", "true") || is("OTEL_TRACES_EXPORTER", "none") {
            return None;
        }
        let is_named = |name: &&str| read_variable(name).is_some_and(|value| !value.trim().is_empty());
        // A variable wins over the file, as for every other setting.
        if ENDPOINT_VARIABLES.iter().any(is_named) {
            return Some(Self { endpoint: None });
        }
        let endpoint = endpoint?.trim_end_matches('/').to_owned();
        Some(Self {
            endpoint: Some(endpoint),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(endpoint: Option<&str>, variables: &[(&str, &str)]) -> Option<TelemetrySettings> {
        TelemetrySettings::from_variables(endpoint, |name| {
            let found = variables.iter().find(|(known, _)| *known == name)?;
            Some(found.1.to_owned())
        })
    }

    #[test]
    fn tracing_is_off_until_the_configuration_or_a_variable_names_a_collector() {
        let of_file = Some(TelemetrySettings {
            endpoint: Some("http://collector:4318".to_owned()),
        });
        let of_variables = Some(TelemetrySettings { endpoint: None });
        let variable = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://other:4318")];

        assert_eq!(read(None, &[]), None);
        assert_eq!(read(None, &[("OTEL_EXPORTER_OTLP_ENDPOINT", " ")]), None);
        assert_eq!(read(Some("http://collector:4318/"), &[]), of_file);
        assert_eq!(read(Some("http://collector:4318"), &variable), of_variables);
    }

    #[test]
    fn standard_variables_switch_tracing_off() {
        for variable in [("OTEL_SDK_DISABLED", "TRUE"), ("OTEL_TRACES_EXPORTER", "none")] {
            assert_eq!(read(Some("http://collector:4318"), &[variable]), None);
        }
    }
}
