import type { GoLive } from '../../../dashboard/go-live/schema.ts'
import { Table } from '../../kit/table.tsx'
import { useLanguage } from '../../shared/language.ts'
import { useGoLiveWords } from './words.ts'

/** Purposes that customers read beside those that are registered; a person compares the two. */
export function Purposes({ purposes }: Pick<GoLive, 'purposes'>) {
  const words = useGoLiveWords().purposes
  const language = useLanguage()
  return (
    <div class="stack tight">
      <p>{words.more}</p>
      <Table
        caption={words.caption}
        rows={purposes}
        keyOf={({ template }) => template}
        columns={[
          {
            title: words.template,
            cell: ({ template }, folded) => (
              <>
                <code>{template}</code>
                {folded}
              </>
            ),
          },
          {
            title: words.own,
            kind: 'wraps',
            folds: 'phone',
            below: 'titled',
            cell: ({ purpose }) => purpose?.[language] ?? words.each,
          },
          {
            title: words.registered,
            kind: 'wraps',
            folds: 'phone',
            below: 'titled',
            cell: ({ registered }) => <Registered {...{ registered, language }} />,
          },
        ]}
      />
    </div>
  )
}

type Props = { registered: GoLive['purposes'][number]['registered']; language: string }

/** The registered purpose in the language of the page, if the registrar has it. */
function Registered({ registered, language }: Props) {
  const { lang, value } = registered.find(each => each.lang.toLowerCase().startsWith(language)) ?? registered[0]!
  return <span lang={lang}>{value}</span>
}
