// Finds the program: named by the caller, by SELVEDGE_BIN, in the npm package, or on the PATH.

/** What the package `selvedge` exports. */
interface SelvedgePackage {
  binaryPath(): string;
}

/** The program's path, or its name when the operating system is to search for it on the PATH. */
export async function findBinary(given: string | undefined): Promise<string> {
  const named = given ?? process.env.SELVEDGE_BIN;
  if (named !== undefined && named !== "") {
    return named;
  }
  // In a variable, so that this package compiles without the other one, which is optional.
  const name: string = "selvedge";
  try {
    return ((await import(name)) as SelvedgePackage).binaryPath();
  } catch (error) {
    if (isMissingPackage(error)) {
      return "selvedge";
    }
    throw error;
  }
}

function isMissingPackage(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
}
