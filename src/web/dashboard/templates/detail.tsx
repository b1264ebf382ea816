import type { Template } from '../../../dashboard/templates/schema.ts'
import { FORMAT_NAMES } from '../../../words/templates.ts'
import { Copy } from '../../kit/copy.tsx'
import { useClaimWords } from '../../shared/claims.ts'
import { useCommon, useLanguage } from '../../shared/language.ts'
import { Chips } from '../parts/chips.tsx'
import { ConfirmButton } from '../parts/confirm.tsx'
import { Facts } from '../parts/facts.tsx'
import { Json } from '../parts/json.tsx'
import { Panel } from '../parts/panel.tsx'
import { curlLine } from '../parts/service-line.ts'
import { ButtonTo, hrefTo } from '../route.tsx'
import { ForEditors, usePlace, useSession } from '../session.tsx'
import { TryIt } from '../verifications/try-it.tsx'
import { useDashboardWords } from '../words.ts'
import { ageOf } from './builder.tsx'
import { ConsentSketch } from './consent-sketch.tsx'
import { Hints } from './hints.tsx'
import { RuleList } from './rule-list.tsx'
import { TemplateUseList } from './use.tsx'
import { useTemplatesWords } from './words.ts'

type Props = { template: Template; onRemoved: () => void }

/** A template, with a sketch of the wallet's screen. */
export function TemplateDetail({ template, onRemoved }: Props) {
  const words = useTemplatesWords()
  const common = useCommon()
  const { formats: formatsTitle } = useDashboardWords()
  const language = useLanguage()
  const { document } = useClaimWords()
  const { environment } = usePlace()
  const { key, formats, aliases, profile, asks, hints, age_over, query, rules } = template
  const { title, purpose } = template.localized
  const ages = agesAloneIn(asks)
  const sentence = age_over === null && ages.length === 0 ? words.plainAnswer : words.decidesAge(age_over ?? Math.max(...ages))
  const documents = [...new Set(asks.flatMap(({ types }) => types.map(document)))]
  return (
    <Panel title={title[language]} backTo={hrefTo('templates')}>
      <p>{sentence}</p>
      <ForEditors>
        <div class="row">
          <TryIt template={key} />
          {!template.builtin && <ButtonTo href={hrefTo(`template-editor/${encodeURIComponent(key)}`)}>{words.edit}</ButtonTo>}
          <ButtonTo href={hrefTo('template-editor', { from: key })}>{words.duplicate}</ButtonTo>
          {!template.builtin && <Remove template={template} onRemoved={onRemoved} />}
        </div>
      </ForEditors>
      <section class="stack tight">
        <h3>{words.picture}</h3>
        <ConsentSketch asks={asks} query={query} purpose={purpose?.[language] ?? words.ownPurpose} title={title[language]} />
      </section>
      <section class="stack tight">
        <h3>{words.accepts}</h3>
        <ul class="plain-list">
          {documents.map(each => (
            <li key={each}>{each}</li>
          ))}
        </ul>
        {documents.length > 1 && <p class="hint">{words.optionsNote}</p>}
      </section>
      {age_over === null && (
        <section class="stack tight">
          <h3>{words.rules}</h3>
          <RuleList rules={rules} asks={asks} />
        </section>
      )}
      <Hints hints={hints} />
      <TemplateUseList template={template} />
      <Facts
        facts={[
          [words.key, <code key="key">{key}</code>],
          [formatsTitle, <Chips key="formats" names={formats.map(each => FORMAT_NAMES[each])} />],
          [words.oneFormat, aliases.length > 0 && <code key="aliases">{aliases.map(alias => alias.key).join(', ')}</code>],
          [words.profile, profile ? words.profiles[profile] : words.operator],
        ]}
      />
      <section class="stack tight">
        <h3>{words.curlTitle}</h3>
        <Copy
          text={curlLine({ path: 'v1/verifications', key: `vk_${environment}_…`, body: { template: key } })}
          label={common.command}
          wraps
        />
      </section>
      <Json title={words.query} value={query} />
    </Panel>
  )
}

/** The ages that are asked for, if nothing else is. */
function agesAloneIn(asks: Template['asks']): number[] {
  const ages = asks.map(({ claims }) => claims.map(ageOf))
  return ages.every(each => each.length > 0 && !each.includes(undefined)) ? ages.flat().filter(age => age !== undefined) : []
}

function Remove({ template: { key, localized }, onRemoved }: Props) {
  const words = useTemplatesWords()
  const language = useLanguage()
  const { call } = useSession()
  const { inTenant } = usePlace()
  return (
    <ConfirmButton
      kind="danger"
      label={words.remove}
      title={words.removeTitle(localized.title[language])}
      name={key}
      verb={words.removeDo}
      onConfirm={() => call(inTenant(`templates/${encodeURIComponent(key)}`), { method: 'DELETE' }).then(onRemoved)}
    >
      {words.removeMore}
    </ConfirmButton>
  )
}
