import { isIP } from 'node:net';
import { Readable } from 'node:stream';
import { shownLine, shownText } from '#base';
import { callSecrets, type SecretReference, type SecretSource } from '#connector';
import { type Channel, failed, headline, type Message, type Told, unknown } from './channel.ts';

const CONNECT_MS_MAX = 10_000;
const SILENCE_MS_MAX = 20_000;
const SUBJECT_CHARS_MAX = 150;
const CASES_SHOWN_MAX = 50;

export interface EmailConfig {
  readonly to: readonly string[];
  readonly from: string;
  readonly smtp: {
    readonly host: string;
    readonly port: number;
    /** TLS from the first byte; else STARTTLS, which must be offered by whoever is not on this machine. */
    readonly secure: boolean;
    readonly plain: boolean;
    readonly user?: string | undefined;
    readonly password?: SecretReference | undefined;
    /** Certificates, as PEM, that sign the server's own. */
    readonly ca?: string | undefined;
  };
}

/** A mail through the operator's own server. */
export function emailChannel(
  name: string,
  config: EmailConfig & { readonly kinds?: readonly string[] | undefined },
  source: SecretSource,
): Channel {
  return {
    name,
    type: 'email',
    kinds: config.kinds,
    async send(message, signal) {
      const secrets = callSecrets(source);
      const { user, password } = config.smtp;
      try {
        const pass = password && (await secrets.reveal(password));
        const mail = await mailOf(config, message);
        const auth = user === undefined ? undefined : { user, pass: pass ?? '' };
        return secrets.redact(await deliver(config, mail, auth, signal));
      } catch (error) {
        return secrets.redact(failed(error));
      }
    },
  };
}

async function mailOf({ from, to }: EmailConfig, message: Message): Promise<Buffer> {
  // Loaded at the first mail: most engines send none.
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer');
  const subject = shownLine(`Pawl: ${headline(message)}`).slice(0, SUBJECT_CHARS_MAX);
  const host =
    from
      .split('@')
      .at(-1)
      ?.replaceAll(/[^A-Za-z0-9.-]/g, '') || 'pawl';
  const mail = {
    from,
    to: [...to],
    subject,
    text: textOf(message),
    date: new Date(message.at),
    messageId: `<${message.id}@${host}>`,
  };
  return await new MailComposer(mail).compile().build();
}

function textOf({ cases, link }: Message): string {
  const shown = cases.slice(0, CASES_SHOWN_MAX);
  const more = cases.length - shown.length;
  const parts = shown.map(({ workflow, sentence, link: to }) => `${shownLine(`${workflow}: ${sentence}`)}\n${to}\n`);
  const rest = more === 0 ? [] : [`and ${more} more\n`];
  return shownText([...parts, ...rest, `Everything that waits for a person: ${link}\n`].join('\n'));
}

/** From the first byte of the mail itself on, whatever is not an answer leaves open whether it arrived. */
async function deliver(
  { from, to, smtp }: EmailConfig,
  mail: Buffer,
  auth: { user: string; pass: string } | undefined,
  signal: AbortSignal,
): Promise<Told> {
  const { host, port, secure, plain, ca } = smtp;
  const { default: SMTPConnection } = await import('nodemailer/lib/smtp-connection');
  const connection = new SMTPConnection({
    host,
    port,
    secure,
    ignoreTLS: plain,
    requireTLS: !plain && !secure && !isThisMachine(host),
    connectionTimeout: CONNECT_MS_MAX,
    greetingTimeout: CONNECT_MS_MAX,
    socketTimeout: SILENCE_MS_MAX,
    ...(ca !== undefined && { tls: { ca } }),
  });
  let begun = false;
  const content = new Readable({
    read() {
      begun = true;
      this.push(mail);
      this.push(null);
    },
  });
  return await new Promise((resolve) => {
    const end = (told: Told): void => {
      signal.removeEventListener('abort', abort);
      connection.close();
      resolve(told);
    };
    const fail = (error: Error): void => {
      const isAnswered = 'responseCode' in error && typeof error.responseCode === 'number';
      end(begun && !isAnswered ? unknown(error) : failed(error));
    };
    const abort = (): void => fail(new Error('the engine is stopping'));
    signal.addEventListener('abort', abort, { once: true });
    connection.on('error', fail);
    const send = (): void =>
      connection.send({ from: addressIn(from), to: to.map(addressIn) }, content, (error) =>
        error ? fail(error) : end({ kind: 'sent' }),
      );
    connection.connect((refused) => {
      if (refused) fail(refused);
      else if (auth === undefined) send();
      else connection.login({ credentials: auth }, (error) => (error ? fail(error) : send()));
    });
  });
}

/** `Pawl <pawl@example.com>` is pawl@example.com to the server. */
function addressIn(written: string): string {
  return /<([^<>]+)>\s*$/.exec(written)?.[1] ?? written.trim();
}

function isThisMachine(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
