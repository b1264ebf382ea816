import type { Slip } from './list.ts'

export default [
  [
    'door: what a proxy forwards counts as local',
    'isFromLoopback',
    '!isForwarded(request)',
    'true',
    'http/metrics-access',
    'dashboard/login',
  ],
  ['door: two Hosts are one', 'httpPlugin', 'refuseSecondHost(request)', '', 'http/host'],
  ['door: the metrics token may be guessed', 'requireMetricsAccess', "limits.take('badauth', client)", '', 'http/metrics-access'],
  ['door: one takes all places', 'sharePlaces', '(own + places) * 4 > free', 'places > free', 'http/rate-limit'],
  ['U+0000 in forms passes', 'readFields', '/\\0|%00/.test(text)', 'false', 'api/wallet-response'],
  ['lengths sent twice have no limit', 'readWithin', '!/^\\d+$/.test(length)', 'false', 'http/envelope'],
  ['size limit off', 'readWithin', 'Number(length) > bytesMax', 'false', 'http/envelope'],
] satisfies Slip[]
