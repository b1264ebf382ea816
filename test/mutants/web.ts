import type { Slip } from './list.ts'

export default [
  ['door: pages cost nothing', 'webPages', ".onBeforeHandle(takesFrom(deps, 'page'))", '', 'http/page-budgets'],
  ['door: a closed sandbox has a wallet', 'webPages', '&& (hasSandbox || bundle !== sandbox)', '', 'sandbox/off'],
  ['door: a closed sandbox is offered', 'marksOf', "deps.config.hasSandbox ? '' :", "true ? '' :", 'sandbox/off'],
  ['the simulated wallet answers any window', 'listenToOpener', 'source !== opener || ', '', 'pages/hosted-digital'],
  ['the till decides what a rule has decided', 'deniesAge', '!ruled.includes(name)', 'true', 'pages/till-verdict'],
  ['find: the last day of a filter is left out', 'queryOf', 'startOf(to, 1)', 'startOf(to, 0)', 'pages/dashboard-verifications'],
  [
    'find: bars stand in front of each other',
    'partsOf',
    'top -= height',
    'top = HEIGHT - height',
    'pages/dashboard-verifications',
  ],
  [
    'find: each bar is as high as the largest',
    'partsOf',
    '(day[kind] / most) * HEIGHT',
    'HEIGHT',
    'pages/dashboard-verifications',
  ],
  ['one bad answer ends the following of the element', 'element.ts', '.catch(() => undefined)', '', 'pages/element'],
] satisfies Slip[]
