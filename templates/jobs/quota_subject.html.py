BBBBBBB BBBBBBBBBBB
BBBB BBBBBB BBBB BBBBBB
 #
 #
 #

BBBBB BBBBBXXXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXXFFFFFFFFFFX
          XXXXX gettext(u'Lowering a limit never stops a running job.') XX
    XXXXXXX XXXXXXXXXXXXXXX
      BB BBBBB BB BBBBBB
        XX XXXXXXXXXXX XXXXXXXXXXXXXXXX pgettext(u'button', u'Team') XXXX
      BBBB BBBBB BB BBBBBB
        XX XXXXXXXXXXX XXXXXXXXXXXXXXXXX pgettext(u'button', u'Person') XXXX
      BBBBB
    XXXXXXXXX
  XXXXXXXXX
  XXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXX
    XXXXXXXX XXXXXXX pgettext(u'heading', u'Limits') X XXXXXXXXXX
      XXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXX
        BBBBBBBBBB
        XXXXXX XXXXXXXXXXXXX XXXXXXXXXX XXXXXXXXX
        XXXXXX XXXXXXXXXXXXX XXXXXXXXXXX XXXXXXXXX
        XXXXXX XXXXXXXXXXXXX XXXXXXXXXXXX XXXXXXXXXXXXX
        XXXX XXXXXXXXXXXXXXXXXXX
          XXXXXX XXXXXXXXXXX XXXXXXXXXXXX
            XXXXXXX
              XXXX
                XXXX pgettext(u'column', u'Resource') XXXXX
                XXX XXXXXXXXXXXX pgettext(u'column', u'In use') XXXXX
                XXXX pgettext(u'column', u'Limit') XXXXX
                BB BBBBB BB BBBBB
                  XXXX pgettext(u'column', u'Guaranteed') XXXXX
                BBBBB
              XXXXX
            XXXXXXXX
            XXXXXXX
              BBB BBBBB BBBBB BBB BB BBBBB
                XXXX
                  XXX XXXXXXXXXFFFFFFFFFFXXXXX
                  XXX XXXXXXXXXXXX
                    
                    BB BBBBBBBBBBB
                      XXXXX XXXXXXXXXXX XXXXX pgettext(u'state', u'over limit') XXXXXXX
                    BBBBB
                  XXXXX
                  XXXX
                    BB BBBBBBBBB
                      XXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXX XXXXXXXXX
                      XXXXXX XXXXXXXXXXXXX XXXXXXXXXX XXXXXXXFFFFFFFFFFFFFFXX
                      XXXXXX XXXXXXXXXXX
                             XXXXXXXXXXXX
                             XXXXXXXBB BBBBBBBBB BB BBB BBBBBBBBBX
                             XXXXXXXXXXXXX pgettext(u'placeholder', u'No limit') X
                             XXXXXXXXXXXXXXXXXX
                             XXXXXXXXXXXX pgettext(u'spoken label', u'Limit: %(head)s') SSSSSS SSSSSSSSXX
                      BB BBBBB BB BBBBBXXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXX XXXXXXXXXBBBBB
                    BBBB BBBBBBBBB BB BBBB
                      XXXXX XXXXXXXXXXXXXX pgettext(u'value', u'No limit') XXXXXXX
                    BBBB
                      
                    BBBBB
                  XXXXX
                  BB BBBBB BB BBBBB
                    XXXX
                      BB BBB BBBBBBBBB
                        FFFFFFFFFFF
                      BBBB BBBB BB BBBBBBBBBBB
                        XXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXX XXXXXXXXX
                        XXXXX XXXXXXXXXXXXXXXXXXXXXX
                      BBBB
                        XXXXXX XXXXXXXXXXX
                               XXXXXXXXXXXXXXXXX
                               XXXXXXXX
                               XXXXXXXXXXXXX pgettext(u'placeholder, guaranteed', u'None') X
                               XXXXXXXXXXXXXXXXXX
                               XXXXXXXXXXXX pgettext(u'spoken label', u'Guaranteed: %(head)s') SSSSSSSSSSS SSSSSSSSXX
                      BBBBB
                    XXXXX
                  BBBBB
                XXXXX
              BBBBBB
            XXXXXXXX
          XXXXXXXX
        XXXXXX
        BB BBBBBBBBB
          XXXX XXXXXXXXXXXXXXXXXXXX XXXXX
            XXXXXXX XXXXXXXXXX XXXXXXXX XXXXXXXXX XXXXXXXXXXXX pgettext(u'button', u'Save') XXXXXXXXX
            XXXXXXX XXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXXXXX pgettext(u'button', u'Preview changes') XXXXXXXXX
            XXXXX XXXXXXXXXXXX XXXXXXX gettext(u'A number, or a size such as 64Gi. Empty is no limit.') XXXXXXX
          XXXXXX
        BBBBB
      XXXXXXX
    XXXXXXXXXX
    XXXXXXXX XXXXXXX pgettext(u'heading', u'Using it now') X
             XXXXXXXFFFFFFX
             XXXXXXXXXX
      BB BBBBBBB
        XXXX XXXXXXXXXXXXXXXXXXX
          XXXXXX XXXXXXXXXXX XXXXXXX
            XXXXXXX
              XXXX
                XXXX pgettext(u'column', u'Person') XXXXX
                XXX XXXXXXXXXXXX pgettext(u'column', u'GPUs') XXXXX
                XXX XXXXXXXXXXXX pgettext(u'column', u'CPU cores') XXXXX
                XXXX pgettext(u'column', u'Jobs') XXXXX
              XXXXX
            XXXXXXXX
            XXXXXXX
              BBB B BB BBBBBBB
                XXXX
                  XXX XXXXXXXXXXXXX
                    XX XXXXXXXXXXXXXXXXXXXXX
                  XXXXX
                  XXX XXXXXXXXXXX XXXXXXXXXXXX pgettext(u'column', u'GPUs') XXXXXXX
                  XXX XXXXXXXXXXX
                      XXXXXXXXXXXX pgettext(u'column', u'CPU cores') XXFFFFFFFFFFFFFFFFFXXXXX
                  XXXX
                    BBB BBBBBBB BBBB BB BBBBBBBBBBBB
                      XX XXXXXXXXXXXX
                         XXXXXXXXXXXXXX
                         XXXXXXXXXXXXXX
                    BBBBBB
                    BB BBBBBB
                      XXXXX XXXXXXXXXXXX XXXXXXX
                         pgettext(u'value', u'and %(n)s more') SSS SSSSS SSSS
                      XXXXXXX
                    BBBBB
                  XXXXX
                XXXXX
              BBBBBB
            XXXXXXXX
          XXXXXXXX
        XXXXXX
      BBBB
        XX XXXXXXXXXXX XXXXX XXXXXXX gettext(u'No running jobs that you can see.') XXXX
      BBBBB
    XXXXXXXXXX
    BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBB
    BB BBBB
      XXXXXXXX XXXXXXX pgettext(u'heading', u'Requests') X
               XXXXXXXFFFFFFX
               XXXXXXXXXX
        XXX XXXXXXXXXXXXX
          BBB BBBB BB BBBB
            BBBBBBB BBBBBBBBBBBBBBBBBBBBBB
          BBBBBB
        XXXXX
      XXXXXXXXXX
    BBBBB
    BB BBBBBBBBB
      XXXXXXXX XXXXXXX pgettext(u'heading', u'History') X XXXXXXXXXX
        BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBB
      XXXXXXXXXX
    BBBBB
  XXXXXX
BBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXXXXXXXX XXXXXBBBBBB BBBBBBBBBBBBXXXXXXXXXXX
BBBBBBBB
