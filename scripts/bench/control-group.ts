// What a small machine has: a share of a core, and memory with the pages of its files. Linux only, as root; cgroup version 1 or 2.
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = '/sys/fs/cgroup'
/** That of most systems. Shorter ones are kinder to a service: it never stands still for long. */
const PERIOD_US = 100_000

export type Limits = { share: number; memoryMb?: number; periodUs?: number }
export type ControlGroup = {
  /** Takes a process that runs, with all that it starts later. */
  take(pid: number): void
  /** A command line that starts a program inside. */
  inside(command: readonly string[]): string[]
  /** The most memory that it ever had, pages of files included. */
  peakMb(): number | undefined
  killed(): number
  remove(): void
}

export function createControlGroup(name: string, { share, memoryMb, periodUs = PERIOD_US }: Limits): ControlGroup {
  const isFirst = existsSync(join(ROOT, 'cpu'))
  const cpu = join(ROOT, isFirst ? 'cpu' : '', name)
  const memory = join(ROOT, isFirst ? 'memory' : '', name)
  const folders = [...new Set([cpu, ...(memoryMb === undefined ? [] : [memory])])]
  for (const folder of folders) mkdirSync(folder, { recursive: true })
  const quota = String(Math.round(periodUs * share))
  if (isFirst) {
    writeFileSync(join(cpu, 'cpu.cfs_period_us'), String(periodUs))
    writeFileSync(join(cpu, 'cpu.cfs_quota_us'), quota)
  } else {
    writeFileSync(join(cpu, 'cpu.max'), `${quota} ${periodUs}`)
  }
  if (memoryMb !== undefined)
    writeFileSync(join(memory, isFirst ? 'memory.limit_in_bytes' : 'memory.max'), String(memoryMb * 1024 * 1024))
  const processes = folders.map(folder => join(folder, 'cgroup.procs'))
  const read = (file: string): string => (existsSync(join(memory, file)) ? readFileSync(join(memory, file), 'utf8') : '')
  const remove = () => {
    try {
      for (const folder of folders) rmdirSync(folder)
    } catch {
      // Its process has not gone yet; an empty group does no harm.
    }
  }
  process.on('exit', remove)
  return {
    take(pid) {
      for (const file of processes) writeFileSync(file, String(pid))
    },
    inside: command => ['/bin/sh', '-c', `${processes.map(file => `echo $$ > ${file}; `).join('')}exec "$@"`, 'sh', ...command],
    peakMb() {
      const bytes = Number(read(isFirst ? 'memory.max_usage_in_bytes' : 'memory.peak') || Number.NaN)
      return Number.isNaN(bytes) ? undefined : bytes / 1024 / 1024
    },
    killed: () => Number(/oom_kill (\d+)/.exec(read(isFirst ? 'memory.oom_control' : 'memory.events'))?.[1] ?? 0),
    remove,
  }
}
