import { existsSync, readFileSync } from 'node:fs'
import { ConfigError } from '../config.ts'

export function readRegistrationCertificate(file: string): string | undefined {
  if (!file) return undefined
  const jwt = existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(jwt))
    throw new ConfigError(`VIDIMUS_REGISTRATION_CERT: ${file} does not hold a registration certificate (a JWT)`)
  return jwt
}
