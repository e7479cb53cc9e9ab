BBBBBBB BBBBBBBBBBB
BBBB BBBB BBBBBB BBBBBB
 #
 #

BBBBB BBBBBXXXXXXXXXXXXXXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBBBBB
  XXXX XXXXXXXXXXXXXXXXXX
    XXXXX
      XXXX
        BB BBBBBBBBBBBBBBB
           gettext(u'Audit of the installation') 
        BBBB
           pgettext(u'page title', u'Audit') 
        BBBBB
      XXXXX
      XX XXXXXXXXXXXXFFFFFFFFFFFFFFFFFF X FFFFFFFFFFXXXX
    XXXXXX
    XXXX XXXXXXXXXXXXXXXX
      BB BBBBBBBBBBBBBBB
        XX XXXXXXXXXXX XXXXXXXXXXXXXX
           pgettext(u'button', u'Audit of %(name)s') 
            SSSSS SS SSSSSSSS
          
        XXXX
      BBBB BBBBBBBBBBBBBBBBBBBB
        XX XXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Installation') XXXX
      BBBBB
      XX XXXXXXXXXXX
         XXXXXXXXXXXXXXXXXXXXXXXXXXBB BBBBBBBBBBXXXXXBBBBBX
         XXXXXXXXXXXXXXXXX
      XX XXXXXXXXXXX
         XXXXXXXXXXXXXXXXXXXXXXXXBB BBBBBBBBBBXXXXXBBBBBX
         XXXXXXXXXXXXXXXX
      XXXXX XXXXXXXXXXXXX XXXXXXXXXX
        BBBBBBBBBB
        XXXXXXX XXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXXXX pgettext(u'button', u'Verify') XXXXXXXXX
      XXXXXXX
    XXXXXX
  XXXXXX
  XXXXXXXXXX XXXXXXXXXXXX XX
  XXXX XXXXXXXXXXXXXX
    BB BBBB
      XXXX XXXXXXXXXXX XXXX XXXXXXXXX
        XXX
          XXXXXXXX gettext(u'The webhook is signed with this secret.') XXXXXXXXX
           gettext(u'Copy it now. It is shown only once.') 
        XXXX
        XXXXXXX XXXXXXX XX
      XXXXXX
    BBBBB
    BB BBBBBBBBBBBBB
      XXXX XXXXXXXXXXX XXXXXX
        XXXXXXXX gettext(u'Events are waiting to be sealed.') XXXXXXXXX
        XXXXXX gettext(u'The sealer hasn’t run for a while. Check the log of the watcher.') XXXXXXX
      XXXXXX
    BBBBB
    BB BBBBBBBBBBBBBBBBBBBBBBB
      XXXX XXXXXXXXXXX XXXXX
        XXX
          XXXXXXXX
             ngettext(u'The last verification found %(shown)s fault.', u'The last verification found %(shown)s faults.', count) 
              SSS SSSS SSSSSSSSSSSS SSSSS SSSSSSSSS SSSSSS
            
              PPP PPPP PPPPPPPPPPPP PPPPP PPPPPPPPP PPPPPPP
            
          XXXXXXXXX
        XXXX
        XXXX
          BBB B BB BBBBBBBBBBBBBBBBBBBBBBBBBBBBB
            XXXXXXXXX XXXXXXXXXXXXXXXXXXXX FFFFFFFFFFXXXXX
          BBBBBB
        XXXXX
        BB BBBBBBBBBBBBBBBBBBBBBBB B B
          XXXXXXXXX
            XXXXXXXXX
               pgettext(u'faults of the audit trail', u'%(n)s more') 
                SSSSS SSSS
              
            XXXXXXXXXX
            XXXX
              BBB B BB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
                XXXXXXXXX XXXXXXXXXXXXXXXXXXXX FFFFFFFFFFXXXXX
              BBBBBB
            XXXXX
            BB BBBBBBBBBBBBBBBBBBBBBBB B BB
              XX XXXXXXXXXXXX XXXXXXX gettext(u'The first 20 are listed here.') XXXX
            BBBBB
          XXXXXXXXXX
        BBBBB
      XXXXXX
    BBBBB
    BB BBBBBB
      XXXXXXXX XXXXXXXXXXXXX XXXXX
        XXXXXXXXX pgettext(u'heading', u'Chains') XXXXXXXXXX
        XXXX XXXXXXXXXXXXXXXXXXX
          XXXXXX XXXXXXXXXXX XXXXXXX
            XXXXXXX
              XXXX
                XXXX pgettext(u'column', u'Chain') XXXXX
                XXX XXXXXXXXXXXX pgettext(u'column', u'Events') XXXXX
                XXX XXXXXXXXXXXX pgettext(u'column', u'Faults') XXXXX
                XXXX pgettext(u'column', u'Verified') XXXXX
                XXX XXXXXXXXXXXX pgettext(u'column', u'Duration') XXXXX
              XXXXX
            XXXXXXXX
            XXXXXXX
              BBB B BB BBBBBB
                XXXX
                  XXX XXXXXXXXXXXXXXXXXX
                  XXX XXXXXXXXXXX
                      XXXXXXXXXXXX pgettext(u'column', u'events') XXFFFFFFFFFFFFFFFFXXXXX
                  XXX XXXXXXXXXXX XXXXXXXXXXXX pgettext(u'column', u'faults') XX
                    BB BBBBBBBBBBBBB
                      XX XXXXXXXXXXXXXXXXXFFFFFFFFFFFFFFFFXXXX
                    BBBB
                      X
                    BBBBB
                  XXXXX
                  XXX XXXXXXXXXXXX XXXXXXXXFFFXXXXX
                  XXX XXXXXXXXXX XXXXX XXXXXXFFFFXXXXX
                XXXXX
              BBBBBB
            XXXXXXXX
          XXXXXXXX
        XXXXXX
      XXXXXXXXXX
    BBBBB
    XXXXXXXX XXXXXXXXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXX
      XXXXXXXX XXXXXXX pgettext(u'empty list', u'No events yet') XX
         gettext(u'Every change, sign-in and denial appears here, with who, from where, and the values before and after.') 
          SSSSS SSSSSSS SSSSSSS SSS SSSSSS SSSSSSS SSSSS SSSS SSSS SSSS SSSSSS SSS SSS SSSSSS SSSSSS
          SSS SSSSSS
        
      XXXXXXXXXX
    XXXXXXXXXX
    XXXXXXXX XXXXXXXXXXXXX
             XXXXXXXXXXXX
             BB BBBBBBBBBBBBBBBBB BB BBBBXXXXBBBBBX
      XXXXXXXXX
         pgettext(u'heading', u'Retention') 
        BB BBBBBBBBBBBBBBBBBB
           pgettext(u'heading', u'for %(n)s days') SSS SSSSS SSSS
        BBBB
           pgettext(u'heading', u'forever') 
        BBBBB
        BB BBBBBBBBBBBBBBBBB
          X
           ngettext(u'forwarded to %(n)s destination', u'forwarded to %(n)s destinations', count) 
            SSSSSSSSS SS SSSSS SSSSSSSSSSS
          
            PPPPPPPPP PP PPPPP PPPPPPPPPPPP
          
        BBBB
          X  pgettext(u'heading', u'not forwarded') 
        BBBBB
      XXXXXXXXXX
      XXXX XXXXXXXXXXX XXXXXXXXX
        BB BBBBBBBBBBBBBBBB
          XXXX XXXXXXXXXXX XXXXXFFFFFFFFFFXXXXXX
        BBBBB
        BB BBBBBBBBBB
          XXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXX XXXXXXXXXX
            BBBBBBBBBB
            XXXXXX XXXXXXXXXXXXXX
              XXXXXX gettext(u'Retention in days (empty: forever)') XXXXXXX
              XXXXXX XXXXXXXXXXXXX
                     XXXXXXXXXXXXXXXX
                     XXXXXXXX
                     XXXXXXXXXXX
                     XXXXXXXFFFFFFFFFFXX
            XXXXXXXX
            XXXXX
               gettext(u'Delete older events permanently? A signed anchor proves the events that stay.') 
                SSSSSS SSSSS SSSSSS SSSSSSSSSSSS S SSSSSS SSSSSS SSSSSS SSS SSSSSS SSSS SSSSS
              
              XXXXXXX XXXXXXXXXXX
                      XXXXXXXXX
                      XXXXXXXXXXXX
                      BB BBB BBBBBBBBBBBBBBBBBBXXXXXXXXXXXXXXXBBBBBX
                 pgettext(u'button', u'Save') 
              XXXXXXXXX
            XXXXXX
          XXXXXXX
        BBBBB
        BB BBBBBBBBBBBBBBBBB
          XXXX XXXXXXXXXXXXXXXXXXX
            XXXXXX XXXXXXXXXXX XXXXXXX
              XXXXXXX
                XXXX
                  XXXX pgettext(u'column', u'Destination') XXXXX
                  XXXX pgettext(u'column', u'State') XXXXX
                  XXX XXXXXXXXXXXX pgettext(u'column', u'Waiting') XXXXX
                  XXXX pgettext(u'column', u'Last sent') XXXXX
                  XXXX
                    XXXXX XXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'column', u'Actions') XXXXXXX
                  XXXXX
                XXXXX
              XXXXXXXX
              XXXXXXX
                BBB B BB BBBBBBBBBBBBBBBBB
                  XXXX
                    XXX XXXXXXXXXXX XXXXXXXXXXX
                    XXX XXXXXXXXXXXX
                      BB BBBBBBBBB
                        XX XXXXXXXXXXXXXXXXXXXXX
                      BBBB
                        
                      BBBBB
                    XXXXX
                    XXX XXXXXXXXXXX
                        XXXXXXXXXXXX pgettext(u'column', u'waiting') XXFFFFFFFFFFFFFFFFXXXXX
                    XXX XXXXXXXXXXXX XXXXXXXX
                      BB BBBBBBBBB
                        FFF
                      BBBB
                         pgettext(u'value', u'never') 
                      BBBBB
                    XXXXX
                    XXX XXXXXXXXXXXX
                      BB BBBBBBBBBB
                        XXXXX XXXXXXXXXXXXX XXXXXXXXXX
                          BBBBBBBBBB
                          XXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXX XXXXXXXXX
                          BB BBBBBBBBB
                            XXXXXXX XXXXXXXXXX XXXXX XXXXXX XXXXXXXXX XXXXXXXXXXXXXX
                               pgettext(u'button', u'Try again') 
                            XXXXXXXXX
                          BBBBB
                          XXXXXXX XXXXXXXXXX XXXXX XXXXX XXXXXXX
                                  XXXXXXXXX
                                  XXXXXXXXXXXX
                                  XXXXXXXXXXXXXX gettext(u'Stop forwarding to this destination?') XX
                             pgettext(u'button', u'Stop') 
                          XXXXXXXXX
                        XXXXXXX
                      BBBBB
                    XXXXX
                  XXXXX
                BBBBBB
              XXXXXXXX
            XXXXXXXX
          XXXXXX
        BBBBB
        BB BBBBBBBBBB
          XXXXX
            XXXXXXX XXXXXXXXXXX
                    XXXXXXXXXXXXX
                    XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Add destination') XXXXXXXXX
          XXXXXX
        BBBBB
      XXXXXX
    XXXXXXXXXX
  XXXXXX
  BB BBBBBBBBBB
    XXXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXX
                   XXXXXXX pgettext(u'heading', u'Forward events') X
                   XXXXXXXX pgettext(u'button', u'Add') X
                   XXXXXXXXXXXX
                   XXXXXXXXXX
      XXXXXXXX XXXXXXX pgettext(u'field', u'Forward to') X
               XXXXXX gettext(u'https:// is a webhook that gets signed JSON. syslog+tls:// is a syslog server (RFC 5424).') XX
        XXXXXX XXXXXXXXXXX
               XXXXXXXXXXXXX
               XXXXXXXX
               XXXXXXXXXXXXXXX
               XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
      XXXXXXXXXX
      XX XXXXXXXXXXXX XXXXXXX
         gettext(u"Under Retention you see when it was last sent to, and what is wrong if it doesn't accept events.") 
      XXXX
      XXXXXX XXXXXXXXXXXXXX
        XXXXXX XXXXXXXXXXXXXXX XXXXXXXXXXXXXXXXX XXXXXXXXXX
         gettext(u'Include all past events') 
      XXXXXXXX
    XXXXXXXXXXXXXXXX
  BBBBB
BBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXXXXXXXX XXXXXBBBBBB BBBBBBBBBBBBBXXXXXXXXXXX
BBBBBBBB
