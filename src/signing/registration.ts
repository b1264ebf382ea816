import { ConfigError, readNamedFile } from '../config.ts'

export function readRegistrationCertificate(file: string): string | undefined {
  if (!file) return undefined
  const jwt = readNamedFile('VIDIMUS_REGISTRATION_CERT', file).trim()
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(jwt))
    throw new ConfigError(`VIDIMUS_REGISTRATION_CERT: ${file} does not hold a registration certificate (a JWT)`)
  return jwt
}
