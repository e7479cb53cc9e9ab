BBBBBBB BBBBBBBBBBB
BBBB BBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBBBBB
  BB BBBBBBBB
     gettext(u"Choose what you're notified about, where and when. Email goes to %(email)s.") 
      SSSSSS SSSS SSSSSS SSSSSSSS SSSSSS SSSSS SSS SSSSS SSSSS SSSS SS SSSSSSSSSS
    
  BBBB
     gettext(u"Choose what you're notified about, where and when.") 
  BBBBB
  XXXXXXX XXXXXXX pgettext(u'page title', u'Notification settings') X
          XXXXXX XX
  BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBBBBBBB
  BB BBB BBBBBBBB
    XXXXXXXX
       gettext(u'This portal sends no email: it has no mail server. Add a channel for Slack, Microsoft Teams or a webhook.') 
      XX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'link', u'Add channel') XXXX
    XXXXXXXXX
  BBBBB
  XXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXX
    BBBBBBBBBB
    XXXX XXXXXXXXXXXXXX
      XXXX XXXXXXXXXXXXXXXXXXX
        XXXXXX XXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXX
          XXXXXXX
            XXXX
              XXXX pgettext(u'column', u'Notify me about') XXXXX
              XXX XXXXXXXXXXXXX pgettext(u'column', u'In Muster') XXXXX
              BB BBBBBBBB
                XXX XXXXXXXXXXXXX pgettext(u'column', u'Email') XXXXX
              BBBBB
              BBB B BB BBBBBBBB
                XXX XXXXXXXXXXXXX
                  XX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
                XXXXX
              BBBBBB
            XXXXX
          XXXXXXXX
          XXXXXXX
            BBB BBBBB BBBB BB BBBBB
              XXXX
                XXXX
                  FFFFFFFFFF
                  XX XXXXXXXXXXXX XXXXXXXFFFFFFFFFFXXXX
                XXXXX
                XXX XXXXXXXXXXXXX
                  XXXXXX XXXXXXXXXXXXXXX
                         XXXXXXXXXXXXXX
                         BB BBBBBBBBBBBXXXXXXXBBBBB
                         XXXXXXXXXXXXFFFFFFFFFFX  pgettext(u'spoken label', u'In Muster') XX
                XXXXX
                BB BBBBBBBB
                  XXX XXXXXXXXXXXXX
                    XXXXXX XXXXXXXXXXXXXXX
                           XXXXXXXXXXXXX
                           BB BBBBBBBBBBXXXXXXXBBBBB
                           XXXXXXXXXXXXFFFFFFFFFFX  pgettext(u'spoken label', u'Email') XX
                  XXXXX
                BBBBB
                BBB B BB BBBBBBBB
                  XXX XXXXXXXXXXXXX
                    BB BBBBBBBBB BB BBBBBBB
                      XXXXX XXXXXXXXXXX
                            XXXXXXXXXX
                            XXXXXXXXXXXX pgettext(u'spoken label', u'Yes') XXXXXXXXXX
                    BBBB
                      XXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXX
                    BBBBB
                  XXXXX
                BBBBBB
              XXXXX
            BBBBBB
          XXXXXXXX
        XXXXXXXX
      XXXXXX
    XXXXXX
    BB BBBBBBBB
      XX XXXXXXXXXXXX XXXXXXX
        XX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX gettext(u'Add Slack, Microsoft Teams or a webhook') XXXX
      XXXX
    BBBBB
    BB BBBBBBBB
       gettext(u'Email and quiet hours') 
       gettext(u'Quiet hours: hold email and my channels back, and send them afterwards') 
    BBBB
       gettext(u'Language and quiet hours') 
       gettext(u'Quiet hours: hold my channels back, and send them afterwards') 
    BBBBB
    XXXXXXXX XXXXXXXXXXXXXXXXXX
      XXXX XXXXXXXXXXXXXXX
        BB BBBBBBBB
          XXXXXXXX XXXXXXX pgettext(u'field', u'Send email') XX
            XXXXXXX XXXXXXXXXXXX
              BBB BBBBBB BBBBB BB BBBBB
                XXXXXXX XXXXXXXX
                        BB BBBBBBBBBBBBB BB BBBBBXXXXXXXXBBBBBXFFFFFFFFFFXXXXXXXXX
              BBBBBB
            XXXXXXXXX
          XXXXXXXXXX
          XXXXXXXX XXXXXXX pgettext(u'field', u'Daily email at') XX
            XXXXXX XXXXXXXXXXX XXXXXXXXXXXXXXX XXXXXXXX XXXXXXXXX
          XXXXXXXXXX
        BBBBB
        XXXXXXXX XXXXXXX pgettext(u'field', u'Language') XX
          XXXXXXX XXXXXXXXXXXXXXXX
            BBB BBBBB BBBB BB BBBBBBBBB
              XXXXXXX XXXXXXXX
                      BB BBBBBBBBBBBBBBBBB BB BBBBXXXXXXXXBBBBBXXXXXXXXXX
            BBBBBB
          XXXXXXXXX
        XXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'field', u'Time zone') X
                 XXXXXX gettext(u'Such as Asia/Seoul') XX
          XXXXXX XXXXXXXXXXX
                 XXXXXXXXXXXXXXXX
                 XXXXXXXXXXXXXX
                 XXXXXXXX
                 XXXXXXXXXXXXXXXXXX
                 XXXXXXXXX
        XXXXXXXXXX
      XXXXXX
      XXXXXX XXXXXXXXXXXXXX
        XXXXXX XXXXXXXXXXXXXXX
               XXXXXXXXXXXX
               BB BBBBBBBBBBBBBBBBBBBXXXXXXXBBBBBX
        
      XXXXXXXX
      XXXX XXXXXXXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'field', u'From') XX
          XXXXXX XXXXXXXXXXX
                 XXXXXXXXXXXXXXXXX
                 XXXXXXXFFFFFFFFFFFFFFFXX
        XXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'field', u'Until') XX
          XXXXXX XXXXXXXXXXX
                 XXXXXXXXXXXXXXXXXX
                 XXXXXXXFFFFFFFFFFFFFFFXX
        XXXXXXXXXX
      XXXXXX
    XXXXXXXXXX
    XXXX XXXXXXXXXXXX
      XXXXXXX XXXXXXXXXX XXXXXXXXX pgettext(u'button', u'Save') XXXXXXXXX
    XXXXXX
  XXXXXXX
BBBBBBBB
