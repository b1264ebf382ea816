import { presentList } from '../../trust/status/present.ts'
import { addStatusList, LIST_MEDIA, readLists, refreshLists, removeStatusList } from '../../trust/status/refresh.ts'
import { argument, defineCommand, listing } from '../command.ts'
import { oneOf, optional } from '../flags.ts'
import { ACTOR } from '../output.ts'
import { quiet } from '../quiet.ts'
import { withDeps, withNewDeps } from '../with-deps.ts'
import { asCommandError } from './problem.ts'

const URL_OF_LIST = argument('url', 'URL', 'the address of the list')

export const command = defineCommand(
  {
    summary: 'lists of revoked documents that are kept for the time without internet',
    subcommands: {
      add: {
        argument: URL_OF_LIST,
        flags: { media: optional(oneOf(LIST_MEDIA), 'what is published there; needed for crl, otherwise as it is served') },
      },
      list: {},
      remove: { argument: URL_OF_LIST },
      refresh: {},
    },
    about: `The service keeps every list that two sessions needed, and fetches it again for 30 days. "add" keeps
one before anybody needs it. VIDIMUS_STATUS_MAX_AGE says how old a list may be when no newer one can
be fetched; "trust bundle export" takes the lists along to a machine without internet.`,
    example: 'vidimus trust status add https://issuer.example/status/1',
  },
  {
    async add({ url, media }, shell) {
      const list = await withNewDeps(shell, async deps => {
        const { issuedAt, endsAt, ...added } = await addStatusList(quiet(deps), { uri: url, media }, ACTOR)
        return presentList({ ...added, issuedAt, endsAt, wanted: 1 }, deps.config)
      }).catch(asCommandError)
      return { json: list, text: `${url} is kept (${list.media}): issued ${list.issued_at}, ${endOf(list)}.` }
    },

    async list(_, shell) {
      const lists = await withDeps(shell, async deps => (await readLists(deps)).map(row => presentList(row, deps.config)))
      return listing(
        lists,
        {
          URL: list => list.uri,
          KIND: list => list.media,
          ISSUED: list => list.issued_at.slice(0, 16),
          ENDS: list => list.ends_at?.slice(0, 16) ?? '',
          'AS OF': list => list.as_of.slice(0, 16),
          FROM: list => list.from,
          ADDED: list => (list.wanted ? 'by you' : ''),
        },
        'No list of revoked documents is kept yet: the first ones come with sessions, or with "vidimus trust status add URL".',
      )
    },

    async remove({ url }, shell) {
      await withDeps(shell, deps => removeStatusList(deps, url, ACTOR)).catch(asCommandError)
      return { json: { uri: url, removed: true }, text: `${url} is no longer kept. A session that needs it fetches it again.` }
    },

    async refresh(_, shell) {
      const data = await withDeps(shell, deps => refreshLists(quiet(deps)))
      const { text } = listing(
        data,
        { URL: list => list.uri, KIND: list => list.media, OUTCOME: list => list.problem ?? 'fetched' },
        'No list of revoked documents is kept yet.',
      )
      return { json: { data }, text, exitCode: data.some(({ problem }) => problem !== undefined) ? 1 : 0 }
    },
  },
)

const endOf = ({ ends_at }: ReturnType<typeof presentList>): string => (ends_at ? `counts until ${ends_at}` : 'without an end')
