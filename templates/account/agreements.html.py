BBBBBBB BBBBBBBBBBB
BBBB BBBB BBBBBB
BBBBB BBBBBXXXXXXXBBBBBBBB
BBBBB BBBBBBB
  XXXX XXXXXXXXXXXXXXXXXX
    XXXXX
      XXXX pgettext(u'page title', u'Connected apps') XXXXX
      XX XXXXXXXXXXXX
         gettext(u'You allowed these apps to sign you in with Muster. After you revoke access, an app has to ask again.') 
          SSS SSSSSSS SSSSS SSSS SS SSSS SSS SS SSSS SSSSSSS SSSSS SSS SSSSSS SSSSSSS SS SSS SSS SS SSS SSSSSS
        
      XXXX
    XXXXXX
    XXXX XXXXXXXXXXXXXXXX
      XX XXXXXXXXXXX XXXXXXBBB BBBBBBBBBBBXX pgettext(u'button', u'Account security') XXXX
    XXXXXX
  XXXXXX
  XXXX XXXXXXXXXXXXXX
    BB BBBB
      XXXX XXXXXXXXXXXXXXXXXXX
        XXXXXX XXXXXXXXXXX XXXXXXX
          XXXXXXX
            XXXX
              XXXX pgettext(u'column', u'Application') XXXXX
              XXXX pgettext(u'column', u'Shares') XXXXX
              XXXX pgettext(u'column', u'Since') XXXXX
              XXXX
                XXXXX XXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'column', u'Actions') XXXXXXX
              XXXXX
            XXXXX
          XXXXXXXX
          XXXXXXX
            BBB BBB BB BBBB
              XXXX
                XXX XXXXXXXXXXXXX
                   XXXXX XXXXXXXXXXXX XXXXXXXXXXXXX
                XXXXX
                XXX XXXXXXXXXXX XXXXXXX
                  BBB BBBB BB BBBBBBBBBB
                    XXXXXXXXXXX
                  BBBBBB
                XXXXX
                XXX XXXXXXXXXXXX XXXXXXXXFFFXXXXX
                XXX XXXXXXXXXXXX
                  XXXXX XXXXXXXXXXXXXX
                    BBBBBBBBBB
                    XXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXX XXXXXXXXX
                    XXXXXXX XXXXXXXXXX XXXXX XXXXX XXXXXXXX pgettext(u'button', u'Revoke') XXXXXXXXX
                  XXXXXXX
                XXXXX
              XXXXX
            BBBBBB
          XXXXXXXX
        XXXXXXXX
      XXXXXX
    BBBB
      XXXX XXXXXXXXXXXXXX
        XXXX gettext(u'No connected apps') XXXXX
        XXX gettext(u'Apps such as Grafana, Harbor or JupyterHub appear here once you sign in to them with Muster.') XXXX
      XXXXXX
    BBBBB
  XXXXXX
BBBBBBBB
