import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { temporaryDir } from '../../helpers/app.ts'
import { freePort } from '../../helpers/free-port.ts'

const DEPLOYED = resolve(import.meta.dir, '../../../scripts/deploy/nginx.conf')

/** nginx with the deployed configuration, for two nodes on this machine. */
export async function startNginx(ports: readonly number[]): Promise<{ url: string; stop(): Promise<void> }> {
  const dir = temporaryDir()
  const port = await freePort()
  const server = readFileSync(DEPLOYED, 'utf8')
    .replace('node-1:3000', `127.0.0.1:${ports[0]}`)
    .replace('node-2:3000', `127.0.0.1:${ports[1]}`)
    .replace('listen 80;', `listen 127.0.0.1:${port};`)
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  for (const name of folders) mkdirSync(join(dir, name))
  const paths = folders.map(name => `${name}_temp_path ${join(dir, name)};`).join('\n')
  const user = process.getuid?.() === 0 ? 'user root;\n' : ''
  const main = `${user}daemon off;\npid ${dir}/pid;\nerror_log ${dir}/error.log;\nevents {}\nhttp {\n${paths}\n${server}\n}\n`
  writeFileSync(join(dir, 'nginx.conf'), main)
  const child = Bun.spawn(['nginx', '-p', dir, '-e', join(dir, 'error.log'), '-c', join(dir, 'nginx.conf')], {
    stdin: 'ignore',
    stdout: 'inherit',
    stderr: 'inherit',
  })
  process.on('exit', () => child.kill('SIGKILL'))
  const url = `http://127.0.0.1:${port}`
  while (!(await fetch(`${url}/healthz`).catch(() => undefined))?.ok) await Bun.sleep(20)
  return {
    url,
    async stop() {
      child.kill('SIGTERM')
      await child.exited
    },
  }
}
