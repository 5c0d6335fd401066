/** Runs the command line tool of an installed package. `ok` is true only for exit code 0. */
export function runToolAside(
  packageName: string,
  args: readonly string[],
  options?: { readonly cwd?: string },
): Promise<{ readonly ok: boolean; readonly output: string }>
