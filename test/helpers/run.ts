export type Run = { exitCode: number; stdout: string; stderr: string }

/** The exit code of a process, and everything that it wrote. */
export async function runOf(child: Bun.ReadableSubprocess): Promise<Run> {
  const [exitCode, stdout, stderr] = await Promise.all([
    child.exited,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { exitCode, stdout, stderr }
}
