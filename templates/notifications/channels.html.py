BBBBBBB BBBBBBBBBBB
BBBB BBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBBBBB
   gettext(u'Slack, Microsoft Teams and webhooks: for yourself, and for teams that you lead.') 
  XXXXXXX XXXXXXX pgettext(u'page title', u'Notification channels') X
          XXXXXXX
    XXXXXXX XXXXXXXXXXXXXXX
      XXXXXXXXX XXXXXXXXXXXXXXXXXXXX
                XXXXXXX pgettext(u'field', u'Add channel') X XX
    XXXXXXXXX
  XXXXXXXXX
  BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBBBBBBB
  XXXX XXXXXXXXXXXXXX
    BB BBBB
       pgettext(u'heading', u'Signing key of %(n)s') 
        SSSSSSS SSS SS SSSSS
      
      XXXXXXX XXXXXXXXXXX XXXXXXXXXXXXXXX
         gettext(u'Copy it now. It is shown only once.') 
        XXXXXXX XXXXXXXXXXXXXX XX
      XXXXXXXXX
    BBBBB
    BB BBBB BB BBBBBBBB
      XXXX XXXXXXXXXXXXXX
        XXXX XXXXXXXXXXXXXXXXXXX
          XXXXXX XXXXXXXXXXX XXXXXXX
            XXXXXXX
              XXXX
                XXXX pgettext(u'column', u'Name') XXXXX
                XXXX pgettext(u'column, type', u'Kind') XXXXX
                XXXX pgettext(u'column, duration', u'For') XXXXX
                XXXX pgettext(u'column', u'State') XXXXX
                XXXX pgettext(u'column', u'Last delivered') XXXXX
              XXXXX
            XXXXXXXX
            XXXXXXX
              BBB BBB BB BBBB
                BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
              BBBBBB
              BBB BBB BB BBBBBBBB
                BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
              BBBBBB
            XXXXXXXX
          XXXXXXXX
        XXXXXX
      XXXXXX
    BBBB
      XXXXXXXX XXXXXXX pgettext(u'empty list', u'No channels yet') X
               XXXXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXX XXX XXXXXXXX
         gettext(u'A channel posts notifications to Slack, Microsoft Teams, or a program of yours.') 
        XXXXXXX XXXXXXXXXXXXXXX
          XXXXXXXXX XXXXXXXXXXXXXXXXXXXX
                    XXXXXXX pgettext(u'field', u'Add channel') X XX
        XXXXXXXXX
      XXXXXXXXXX
    BBBBB
  XXXXXX
  XXXXXXXXXXXXXX XXXXXXXXXXXXXXXX
                 XXXXXXX pgettext(u'heading', u'Add channel') X
                 XXXXXXXX pgettext(u'button', u'Add') XX
    BBBB
    XXXX XXXXXXXXXXXXXXX
      XXXXXXXX XXXXXXX pgettext(u'field, type', u'Kind') X
               XXXXXX gettext(u'Slack: incoming webhook of an app. Teams: workflow that posts to a channel. Webhook: signed JSON for your program.') XX
        XXXXXXX XXXXXXXXXXX XXXXXXXXXX
          BBB BBBBBB BBBBBB BBBB BB BBBBB
            XXXXXXX XXXXXXXXXXXXXXXXXX
          BBBBBB
        XXXXXXXXX
      XXXXXXXXXX
      XXXXXXXX XXXXXXX pgettext(u'field, duration', u'For') XX
        XXXXXXX XXXXXXXXXXXX
          XXXXXXX XXXXXXXXX pgettext(u'choice', u'Myself') XXXXXXXXX
          BBB B BB BBBBB
             pgettext(u'field', u'Team %(t)s') SSSS SSSSS
            XXXXXXX XXXXXXXX BB BB BB BBBBBBXXXXXXXXBBBBBXXXXXXXXXX
          BBBBBB
        XXXXXXXXX
      XXXXXXXXXX
      XXXXXXXX XXXXXXX pgettext(u'field', u'Name') XX
        XXXXXX XXXXXXXXXXX XXXXXXXXXXX XXXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXX
      XXXXXXXXXX
      XXXXXXXX XXXXXXXXXXXX
               XXXXXXX pgettext(u'field, URL', u'Address') X
               XXXXXX gettext(u'Copy it from Slack or Teams. It is stored encrypted and not shown again.') XX
        XXXXXX XXXXXXXXXX
               XXXXXXXXXX
               XXXXXXXX
               XXXXXXXXXXXXXXX
               XXXXXXXXXXXXXXXXXX
               XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
      XXXXXXXXXX
    XXXXXX
    BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBBBBBBBBBBBB
    XXXXXX XXXXXXXXXXXXXX
      XXXXXX XXXXXXXXXXXXXXX XXXXXXXXXXX XXXXXXXXX XXXXXXXX
       gettext(u'Send a test message now') 
    XXXXXXXX
  XXXXXXXXXXXXXXXX
BBBBBBBB
