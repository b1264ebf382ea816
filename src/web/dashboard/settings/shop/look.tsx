import { useState } from 'preact/hooks'
import type { ChangeLook, Look } from '../../../../dashboard/settings/shop/schema.ts'
import { contrast } from '../../../../tenants/contrast.ts'
import { LANGUAGES } from '../../../../words/languages.ts'
import { Button } from '../../../kit/button.tsx'
import { Card } from '../../../kit/card.tsx'
import { Field } from '../../../kit/field.tsx'
import { Notice } from '../../../kit/notice.tsx'
import { useAction } from '../../action.ts'
import { useData } from '../../data.ts'
import { useFormat } from '../../format.ts'
import { base64Of, FileInput } from '../../parts/file-button.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Saved } from '../../parts/saved.tsx'
import { useMayChange, usePlace, useSession } from '../../session.tsx'
import { useDashboardWords } from '../../words.ts'
import { type Lines, linesOf, WithoutWallet } from './without-wallet.tsx'
import { useShopWords } from './words.ts'

const LOGO_BYTES_MAX = 64 * 1024
/** The accent of theme.css in the light theme. */
const DEFAULT_ACCENT = '#1f4fd8'
const LOGO_TYPES = ['image/png', 'image/jpeg', 'image/webp']
/** Colours of cards on the hosted page: `--surface` of theme.css. */
const SURFACES = { light: '#ffffff', dark: '#1a1d25' } as const
/** Between a control and what is around it (WCAG 2.2 § 1.4.11). */
const CONTROL_CONTRAST_MIN = 3

/** The look of the hosted page for the shop's customers. */
export function ShopLook() {
  const words = useShopWords()
  const { inTenant } = usePlace()
  const path = inTenant('look')
  const data = useData<Look>(path)
  return (
    <Card title={words.look}>
      <p class="secondary">{words.lookMore}</p>
      <Loaded data={data}>{look => <Form path={path} look={look} onChange={data.set} />}</Loaded>
    </Card>
  )
}

type FormProps = { path: string; look: Look; onChange: (look: Look) => void }

function Form({ path, look, onChange }: FormProps) {
  const words = useShopWords()
  const all = useDashboardWords()
  const { call } = useSession()
  const mayChange = useMayChange()
  const [accent, setAccent] = useState(look.accent ?? '')
  const [privacy, setPrivacy] = useState(look.privacy_url ?? '')
  const [lines, setLines] = useState(look.without_wallet ?? {})
  const [isSaved, setIsSaved] = useState(false)
  const colour = accent.trim().toLowerCase()
  const isColour = /^#[0-9a-f]{6}$/.test(colour)
  const link = privacy.trim()
  const isLink = URL.parse(link)?.protocol === 'https:'
  const save = useAction(async (change: ChangeLook) => {
    setIsSaved(false)
    onChange(await call<Look>(path, { method: 'PUT', body: change }))
    setIsSaved(true)
  })
  const isReady = (isColour || colour === '') && (isLink || link === '')
  const isChanged = colour !== (look.accent ?? '') || link !== (look.privacy_url ?? '') || areOther(lines, look)
  return (
    <form
      class="stack"
      noValidate
      onSubmit={event => {
        event.preventDefault()
        save.run({ accent: colour || null, privacy_url: link || null, without_wallet: linesOf(lines) })
      }}
    >
      <Logo logo={look.logo} onLogo={mayChange ? logo => save.run({ logo }) : undefined} />
      <Field
        label={words.accent}
        hint={words.accentHint}
        problem={colour !== '' && !isColour && words.accentProblem}
        autoCapitalize="none"
        spellcheck={false}
        maxLength={7}
        readOnly={!mayChange}
        value={accent}
        onText={setAccent}
      />
      <div class="line middle">
        <input
          class="colour-picker"
          type="color"
          aria-label={words.accentPick}
          disabled={!mayChange}
          value={isColour ? colour : DEFAULT_ACCENT}
          onInput={event => setAccent(event.currentTarget.value)}
        />
        <span class="hint">{words.accentPick}</span>
      </div>
      {isColour && <Contrast colour={colour} />}
      <Field
        label={words.privacy}
        hint={words.privacyHint}
        problem={link !== '' && !isLink && words.privacyProblem}
        type="url"
        maxLength={1000}
        readOnly={!mayChange}
        value={privacy}
        onText={setPrivacy}
      />
      <WithoutWallet lines={lines} onChange={mayChange ? setLines : undefined} />
      <Preview look={look} colour={isColour ? colour : DEFAULT_ACCENT} link={isLink ? link : ''} />
      <Saved action={save} isSaved={isSaved} />
      {mayChange && (
        <div>
          <Button type="submit" busy={save.isBusy} disabled={!isReady || !isChanged}>
            {all.save}
          </Button>
        </div>
      )}
    </form>
  )
}

const areOther = (lines: Lines, { without_wallet }: Look): boolean =>
  LANGUAGES.some(language => (lines[language]?.trim() ?? '') !== (without_wallet?.[language] ?? ''))

type LogoProps = { logo: Look['logo']; onLogo: ((base64: string | null) => void) | undefined }

function Logo({ logo, onLogo }: LogoProps) {
  const words = useShopWords()
  const [hasProblem, setHasProblem] = useState(false)
  const choose = async (file: File) => {
    const isRight = LOGO_TYPES.includes(file.type) && file.size <= LOGO_BYTES_MAX
    setHasProblem(!isRight)
    if (isRight) onLogo?.(await base64Of(file))
  }
  return (
    <fieldset class="choices stack tight">
      <legend>{words.logo}</legend>
      <p class="hint">{words.logoHint}</p>
      {logo && <img class="shop-logo box" src={`data:${logo.type};base64,${logo.base64}`} alt={words.logo} />}
      {hasProblem && (
        <Notice tone="no" alert>
          {words.logoProblem}
        </Notice>
      )}
      {onLogo && (
        <div class="row">
          <FileInput accept={LOGO_TYPES.join()} label={words.logoChoose} onFile={choose} />
          {logo && <Button onClick={() => onLogo(null)}>{words.logoRemove}</Button>}
        </div>
      )}
    </fieldset>
  )
}

const inkFor = (colour: string): string => (contrast(colour, '#ffffff') >= contrast(colour, '#000000') ? '#ffffff' : '#000000')

/** Whether customers will see the button, and read its text. */
function Contrast({ colour }: { colour: string }) {
  const words = useShopWords()
  const { number } = useFormat()
  const faint = (['light', 'dark'] as const).filter(theme => contrast(colour, SURFACES[theme]) < CONTROL_CONTRAST_MIN)
  return (
    <>
      <p class="hint">{words.accentContrast(number(Math.round(contrast(colour, inkFor(colour)) * 10) / 10))}</p>
      {faint.map(theme => (
        <Notice key={theme} tone="wait">
          {words.accentFaint(theme)}
        </Notice>
      ))}
    </>
  )
}

type PreviewProps = { look: Look; colour: string; link: string }

/** What customers see of it, in the light theme. */
function Preview({ look: { logo }, colour, link }: PreviewProps) {
  const words = useShopWords()
  const { tenant } = usePlace()
  return (
    <figure class="look-preview box stack centred">
      <figcaption class="hint">{words.preview}</figcaption>
      {logo && <img src={`data:${logo.type};base64,${logo.base64}`} alt="" />}
      <strong>{tenant.name}</strong>
      <span class="look-button" style={{ backgroundColor: colour, color: inkFor(colour) }}>
        {words.accentSample}
      </span>
      {link && <span class="small look-link">{words.previewPrivacy(tenant.name)}</span>}
    </figure>
  )
}
