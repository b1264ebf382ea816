/** Another one for every commit, and the same for all runs of one: what was green stays green until something changes. */
export const FRESH_SEED = seedOfCommit()

function seedOfCommit(): number {
  const git = Bun.which('git')
  const named = git === null ? undefined : Bun.spawnSync([git, 'rev-parse', 'HEAD'], { cwd: import.meta.dir, stderr: 'ignore' })
  return named?.success ? Number.parseInt(named.stdout.toString().slice(0, 7), 16) : Math.floor(Math.random() * 2 ** 28)
}
