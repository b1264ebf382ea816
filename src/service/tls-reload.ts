import { describeFailure } from '../base/log.ts'
import { isoUtc } from '../base/time.ts'
import { ConfigError } from '../config.ts'
import type { Configured, Reading, Reporting } from '../ground.ts'
import { readTlsPair, warnOfDates } from '../http/tls-pair.ts'
import type { Listener } from './listener.ts'
import { PortRefusal } from './refusal.ts'

/** Runs on SIGHUP. A pair that cannot be used changes nothing; false when the port was lost. */
export function reloadTls({ config, now, log }: Reading & Reporting & Configured, listener: Listener): boolean {
  if (!config.tls) {
    log.warn('tls.nothing_to_reload', { detail: 'VIDIMUS_TLS_CERT and VIDIMUS_TLS_KEY are not set' })
    return true
  }
  try {
    const pair = readTlsPair(config.tls)
    listener.renew(pair)
    log.info('tls.reloaded', { detail: `valid until ${isoUtc(pair.notAfter)}` })
    warnOfDates(pair, now(), log)
    return true
  } catch (error) {
    if (error instanceof PortRefusal) {
      log.error('tls.port_lost', { detail: error.message })
      return false
    }
    const detail = error instanceof ConfigError ? error.message : 'the runtime cannot use this pair'
    log.error('tls.not_reloaded', { detail: `${detail}; the old certificate is still served`, failure: describeFailure(error) })
    return true
  }
}
