import { readFileSync } from 'node:fs'
import { ConfigError } from '../config.ts'

export function readRegistrationCertificate(file: string): string | undefined {
  if (!file) return undefined
  const jwt = read(file)
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(jwt))
    throw new ConfigError(`VIDIMUS_REGISTRATION_CERT: ${file} does not hold a registration certificate (a JWT)`)
  return jwt
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    throw new ConfigError(`VIDIMUS_REGISTRATION_CERT: cannot read ${file}; check the path, and that this user may read it`)
  }
}
